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
  for (const source of document.querySelectorAll("source[data-dark]")) {
    source.media = media;
  }
}

const choice = document.querySelector("[data-theme-choice]");
if (choice) {
  choice.hidden = false;
  choice.querySelector(`[value="${root.dataset.theme ?? "auto"}"]`).checked = true;
  choice.addEventListener("change", (event) => {
    document.cookie = `theme=${event.target.value}; path=/; max-age=${YEAR}; samesite=lax`;
    show(event.target.value);
  });
}

// The menu closes with Escape and when the focus or a click goes elsewhere.
for (const menu of document.querySelectorAll("details.menu")) {
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
}
