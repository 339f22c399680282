// Sentence numbers in the margin of a text that runs on: beside the line in which a sentence begins. They are drawn by
// style from an attribute, so that they are neither selected nor copied. Several that begin in one line share a mark, as S3–4.

const SAME_LINE = 4; // pixels by which boxes of one line differ

/** Number the sentences of `text`, elements that match `sentences`, whenever its lines change. */
export function numberSentences(text, sentences) {
  const margin = document.createElement("span");
  margin.className = "sentence-numbers";
  margin.setAttribute("aria-hidden", "true");
  text.prepend(margin);
  new ResizeObserver(() => draw(text, margin, text.querySelectorAll(sentences))).observe(text);
}

function draw(text, margin, sentences) {
  const top = text.getBoundingClientRect().top;
  const lines = []; // {at, height, first, last}
  sentences.forEach((sentence, index) => {
    const [box] = sentence.getClientRects();
    if (!box) return;
    const line = lines.at(-1);
    const name = index + 1;
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
