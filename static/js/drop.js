// Files may be dropped on the box around a file input; without this the input alone does.

/** Show what is chosen, when there is a list for it. */
function show(box, files) {
  const list = box.querySelector("[data-drop-list]");
  if (!list) return;
  list.replaceChildren(
    ...[...files].map((file) => {
      const item = document.createElement("li");
      item.textContent = `${file.name}, ${size(file.size)}`;
      return item;
    }),
  );
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/** Take as many of the dropped files as the input takes. */
function take(input, dropped) {
  const taken = new DataTransfer();
  for (const file of input.multiple ? dropped : [...dropped].slice(0, 1)) taken.items.add(file);
  input.files = taken.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

for (const box of document.querySelectorAll("[data-drop]")) {
  const input = box.querySelector("input[type=file]");
  const hint = box.querySelector("[data-drop-hint]");
  if (hint) hint.hidden = false;
  input.addEventListener("change", () => show(box, input.files));
  box.addEventListener("dragover", (event) => {
    event.preventDefault();
    box.classList.add("is-over");
  });
  box.addEventListener("dragleave", () => box.classList.remove("is-over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("is-over");
    take(input, event.dataTransfer.files);
  });
}
