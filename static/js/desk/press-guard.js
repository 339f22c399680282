// Between the press of a button and its release nothing may move below the pointer: the row that gets the focus grows,
// the one that loses it shrinks, and the click would land on something else. What moves things waits for the release.

let pressed = false;
let waiting = null;

/** Run now, or when what is pressed was let go and clicked. Of several only the last runs. */
export function whenStill(run) {
  if (pressed) waiting = run;
  else run();
}

function letGo() {
  if (!pressed) return;
  setTimeout(() => {
    pressed = false;
    const run = waiting;
    waiting = null;
    run?.();
  });
}

addEventListener("mousedown", () => (pressed = true), { capture: true });
for (const name of ["mouseup", "dragend", "keydown"]) addEventListener(name, letGo, { capture: true });
