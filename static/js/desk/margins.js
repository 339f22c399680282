// Sentence numbers in the margin of a text that runs on: beside the line in which a sentence begins. They are drawn by
// style from an attribute, so that they are neither selected nor copied. Several that begin in one line share a mark, as S3–4.

const SAME_LINE = 4; // pixels by which boxes of one line differ

/** Number the sentences of `text`, elements that match `sentences`, from `first` on, whenever its lines change. */
export function numberSentences(text, sentences, first = 1) {
  const margin = document.createElement("span");
  margin.className = "sentence-numbers";
  margin.setAttribute("aria-hidden", "true");
  text.prepend(margin);
  const again = () => isLaidOut(margin) && draw(text, margin, text.querySelectorAll(sentences), first);
  new ResizeObserver(again).observe(text);
  text.addEventListener("contentvisibilityautostatechange", ({ skipped }) => skipped || again());
}

// Measuring a paragraph that is far from the view would lay it out. Only what is in it knows that it is not.
function isLaidOut(part) {
  return part.checkVisibility({ contentVisibilityAuto: true });
}

function draw(text, margin, sentences, start) {
  const top = text.getBoundingClientRect().top;
  const lines = []; // {at, height, first, last}
  sentences.forEach((sentence, index) => {
    const [box] = sentence.getClientRects();
    if (!box) return;
    const line = lines.at(-1);
    const name = start + index;
    if (line && Math.abs(line.at - (box.top - top)) < SAME_LINE) line.last = name;
    else lines.push({ at: box.top - top, height: box.height, first: name, last: name });
  });
  margin.replaceChildren(...lines.map(numberAt));
}

function numberAt({ at, height, first, last }) {
  const mark = document.createElement("i");
  mark.dataset.names = sentenceNames(first, last);
  mark.style.insetBlockStart = `${at}px`;
  mark.style.blockSize = `${height}px`;
  return mark;
}

// "S3" or "S3–4": a place's name, the same in every language.
function sentenceNames(first, last) {
  return ["S", [...new Set([first, last])].join("\u2013")].join("");
}
