/* One pair of labels after the other: a key presses the button that shows it, and the words that the nugget or the
 * sentence shares with the text beside it are marked. Without script the buttons do the same. */
import { chordOf, isSingle, isTextField } from "./desk/keys.js";
import { contentWords, wordsOf } from "./desk/nugget-search.js";

const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".verdict-queue"));
const withSingleKeys = form?.hasAttribute("data-single-keys") ?? false;
let isGoingOn = false;

// The next key would be a second verdict on this pair while the next pair is on its way.
form?.addEventListener("submit", (event) => {
  if (isGoingOn) event.preventDefault();
  isGoingOn = true;
});
// Back shows this page as it was left.
window.addEventListener("pageshow", () => (isGoingOn = false));

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.matches("#id_note") && event.key === "Escape") target.blur();
  if (!form || event.repeat || isTextField(target) || target.closest("[role=dialog], [role=menu]")) return;
  const chord = chordOf(event);
  if (!chord || (isSingle(chord) && !withSingleKeys)) return;
  const button = /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="${CSS.escape(chord)}"]`));
  if (!button) return;
  event.preventDefault();
  if (button.matches("summary")) unfold(/** @type {HTMLDetailsElement} */ (button.parentElement));
  else button.click();
});

function unfold(details) {
  details.open = true;
  /** @type {HTMLElement} */ (details.querySelector("textarea, button")).focus();
}

function markSameWords(texts) {
  const item = texts.querySelector("[data-words]");
  const beside = texts.querySelector("[data-words-in]");
  if (!item || !beside) return;
  const found = new Set(contentWords(beside.textContent));
  const same = new Set(contentWords(item.textContent).filter((word) => found.has(word)));
  for (const element of [item, beside]) mark(element, same);
}

function mark(element, words) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  for (const node of nodes) {
    // From the last word to the first, so that what is cut off stays before the places still to come.
    const places = wordsOf(node.data).filter(([word]) => words.has(word));
    for (const [word, start] of places.reverse()) {
      const rest = node.splitText(start);
      rest.splitText(word.length);
      const marked = document.createElement("mark");
      rest.replaceWith(marked);
      marked.append(rest);
    }
  }
}

for (const texts of document.querySelectorAll("[data-same-words]")) markSameWords(texts);
document.body.dataset.ready = "";
