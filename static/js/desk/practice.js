// Practice by the desk's own keys: one gives a label, Enter goes on. Without script the form does it all.

import { define, setup } from "./keys.js";

const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".practice-form"));

function give(radio) {
  radio.checked = true;
  form.requestSubmit();
}

for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(".practice-form [data-action]"))) {
  const { action } = radio.dataset;
  radio.closest("label").querySelector("kbd").dataset.key = action;
  define({ id: action, run: () => give(radio) });
}
const shown = document.querySelector("input[data-shown]");
if (shown) define({ id: "accept", run: () => give(shown) });
setup();
