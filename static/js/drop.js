// Files may be dropped on the box around a file input; without this the input alone does.

import { make } from "./shared/make.js";
import { plural } from "./shared/text.js";

/** Show what is chosen, when there is a list for it. */
function show(box, files) {
  const list = box.querySelector("[data-drop-list]");
  if (!list) return;
  list.replaceChildren(...[...files].map((file) => make("li", {}, `${file.name}, ${size(file.size)}`)));
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} ${plural(bytes, "byte")}`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/** Take as many of the dropped files as the input takes. */
function take(input, dropped) {
  const taken = new DataTransfer();
  for (const file of input.multiple ? dropped : [...dropped].slice(0, 1)) taken.items.add(file);
  input.files = taken.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

const holdsFiles = (event) => event.dataTransfer.types.includes("Files");

function listen(box) {
  const input = box.querySelector("input[type=file]");
  const hint = box.querySelector("[data-drop-hint]");
  if (hint) hint.hidden = false;
  input.addEventListener("change", () => show(box, input.files));
  box.addEventListener("dragover", (event) => box.classList.toggle("is-over", holdsFiles(event)));
  box.addEventListener("dragleave", (event) => {
    if (!box.contains(event.relatedTarget)) box.classList.remove("is-over");
  });
  box.addEventListener("drop", (event) => {
    box.classList.remove("is-over");
    if (holdsFiles(event)) take(input, event.dataTransfer.files);
  });
}

// A file that misses the box must not replace the page, with all that was typed into its form.
for (const kind of ["dragover", "drop"])
  document.addEventListener(kind, (event) => {
    if (holdsFiles(event)) event.preventDefault();
  });
for (const box of document.querySelectorAll("[data-drop]")) listen(box);
