// The theme switch of the user menu. The choice is a cookie, so that the server sends the next page right at once.

const root = document.documentElement;
const YEAR = 60 * 60 * 24 * 365;

/** Show `theme` ("light", "dark", or "auto" for the system's) on this page. */
function show(theme) {
  if (theme === "auto") {
    delete root.dataset.theme;
  } else {
    root.dataset.theme = theme;
  }
  const media = { auto: "(prefers-color-scheme: dark)", dark: "all", light: "not all" }[theme];
  const sources = /** @type {NodeListOf<HTMLSourceElement>} */ (document.querySelectorAll("source[data-dark]"));
  for (const source of sources) {
    source.media = media;
  }
}

const choice = document.querySelector("[data-theme-choice]");
if (choice) {
  choice.hidden = false;
  const current = /** @type {HTMLInputElement} */ (choice.querySelector(`[value="${root.dataset.theme ?? "auto"}"]`));
  current.checked = true;
  choice.addEventListener("change", (event) => {
    const { value } = /** @type {HTMLInputElement} */ (event.target);
    document.cookie = `theme=${value}; path=/; max-age=${YEAR}; samesite=lax`;
    show(value);
  });
}

// The menu closes with Escape and when the focus or a click goes elsewhere.
const menus = /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.menu"));
for (const menu of menus) {
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  menu.addEventListener("focusout", (event) => {
    const next = /** @type {Node | null} */ (event.relatedTarget);
    if (next && !menu.contains(next)) menu.open = false;
  });
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
}
