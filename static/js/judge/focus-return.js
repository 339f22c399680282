// A click beside the rows would leave the focus on nothing that has keys, and the next key unheard.

/** Give the focus to where work is when the pane itself was clicked, or something in it that takes no focus. */
export function followClicks(pane, work) {
  pane.addEventListener("click", () => {
    const nothing = document.activeElement === pane || document.activeElement === document.body;
    if (nothing && getSelection().isCollapsed && work.current) work.focus(work.current);
  });
}
