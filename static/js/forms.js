// Forms with a preview: Ctrl+Enter presses the button that acts, and a preview that is out of date is not acted on.

const primary = () => /** @type {HTMLButtonElement | null} */ (document.querySelector("button[data-primary]"));

const isLive = (target) => Boolean(/** @type {Element} */ (target).closest("form[data-live]"));

let pressesLater = false;

function press() {
  pressesLater = false;
  const button = primary();
  if (button && !button.disabled) button.click();
}

document.addEventListener("input", (event) => {
  const button = primary();
  // The server's next preview brings the button back, with its new words.
  if (button && isLive(event.target)) {
    button.disabled = true;
    button.dataset.waits = "";
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
  if (!primary()) return;
  event.preventDefault();
  // A field tells its change only when it is left.
  /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
  if (primary()?.dataset.waits === undefined) press();
  else pressesLater = true;
});

document.addEventListener("htmx:afterSettle", () => {
  if (pressesLater && primary()?.dataset.waits === undefined) press();
});

document.addEventListener("htmx:configRequest", (event) => {
  const { parameters, triggeringEvent } = /** @type {CustomEvent} */ (event).detail;
  if (!isLive(event.target)) return;
  for (const [name, value] of Object.entries(parameters)) if (value === "") delete parameters[name];
  // Fields of the kind that is left mean nothing to the next one.
  if (triggeringEvent?.target.name === "what") {
    for (const name of triggeringEvent.target.form.dataset.own.split(" ")) delete parameters[name];
  }
  const form = document.querySelector("form[data-preselected]");
  if (!form || parameters.choose) return;
  // Ticks that nobody has changed follow the kind and the judge, and keep the address short.
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[name=topics]")]);
  if (boxes.every((box) => box.checked === box.defaultChecked)) {
    delete parameters.topics;
    delete parameters.shown;
  }
});

const names = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-names]"));
const fieldOf = (name) => /** @type {HTMLInputElement | null | undefined} */ (names?.querySelector(`[name=${name}]`));
fieldOf("slug")?.addEventListener("input", () => {
  names.dataset.names = "own";
});

function propose() {
  if (names.dataset.names === "own") return;
  const words = fieldOf("name").value.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  fieldOf("slug").value = words.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "").slice(0, 60);
}

fieldOf("name")?.addEventListener("input", propose);
// Somebody may have typed before this script was there.
if (fieldOf("name")?.value && !fieldOf("slug").value) propose();
document.body.dataset.ready = "";
