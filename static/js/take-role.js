/* People: the page that asks before a role is taken away is a dialog here, and a page of its own without script. */
const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("#take-role"));

let menu = /** @type {HTMLElement | null} */ (null);

document.addEventListener("htmx:beforeRequest", (event) => {
  menu = /** @type {HTMLElement} */ (event.target).closest("[popover]");
});

dialog.addEventListener("htmx:afterSwap", () => {
  dialog.showModal(); // and the menu of the row closes
});

dialog.addEventListener("click", (event) => {
  if (/** @type {HTMLElement} */ (event.target).closest("[data-leave]")) {
    event.preventDefault();
    dialog.close();
  }
});

// What opened the dialog lies in a closed menu, so the focus goes to the menu's button.
dialog.addEventListener("close", () => {
  /** @type {HTMLElement | null} */ (document.querySelector(`[popovertarget="${menu?.id}"]`))?.focus();
});
