// Practice by the desk's own keys: one gives a label, Enter goes on. Without script the form does it all.

import { define, setup } from "./keys.js";

const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".practice-form"));

function give(radio) {
  radio.checked = true;
  form.requestSubmit();
}

for (const kbd of document.querySelectorAll(".practice-form kbd[data-key]")) {
  const radio = kbd.closest("label").querySelector("input");
  define({ id: kbd.dataset.key, run: () => give(radio) });
}
const shown = document.querySelector("input[data-shown]");
if (shown) define({ id: "accept", run: () => give(shown) });
setup();
