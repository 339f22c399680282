// Columns of the chosen file are offered where one has to be named: those of a header, or the keys of its first line.

const BEGINNING = 65_536;

function columnsOf(text) {
  const first = text.trimStart().split("\n", 1)[0];
  if (first.startsWith("{")) return keysOf(first);
  const divider = [",", ";", "\t"].reduce((most, mark) => (count(first, mark) > count(first, most) ? mark : most));
  return first.split(divider).map((name) => name.trim().replace(/^"(.*)"$/u, "$1"));
}

function keysOf(line) {
  try {
    return Object.keys(JSON.parse(line));
  } catch {
    return []; // a line that is longer than what is read
  }
}

const count = (text, mark) => text.split(mark).length;

async function offer(input, list) {
  const file = input.files[0];
  const names = file ? columnsOf(await file.slice(0, BEGINNING).text()) : [];
  list.replaceChildren(...names.map((name) => new Option(name)));
}

const input = /** @type {HTMLInputElement} */ (document.querySelector("input[type=file][data-files]"));
const list = document.querySelector("#columns");
if (input && list) {
  input.addEventListener("change", () => offer(input, list));
  offer(input, list); // a file that was chosen before this script came
}
