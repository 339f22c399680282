// Buttons that put a text of the page into the clipboard. Without this script the text is there to be selected.

for (const place of document.querySelectorAll("p.copies")) /** @type {HTMLElement} */ (place).hidden = false;

/** Copy a text; where the page may not write to the clipboard, as over plain HTTP, by way of its field. */
async function copied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    const fold = field.closest("details");
    if (fold) fold.open = true;
    field.select();
    return document.execCommand("copy");
  }
}

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-copy]") : null;
  if (!(button instanceof HTMLElement)) return;
  const field = /** @type {HTMLTextAreaElement} */ (document.getElementById(button.dataset.copy ?? ""));
  const status = /** @type {HTMLElement} */ (button.parentElement?.querySelector("[role=status]"));
  status.textContent = (await copied(field)) ? "Copied." : "Not copied: it is selected below. Press Ctrl+C.";
});
