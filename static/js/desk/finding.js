// Looking for words in texts: whatever their case and accents, in place, so that a hit's offsets are those of the text.

const ACCENTED = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]\p{M}+$/u;
const ALIKE = { "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2010": "-", "\u2011": "-" };

function plain(unit) {
  if (unit in ALIKE) return ALIKE[unit];
  const parts = unit.normalize("NFD");
  const base = ACCENTED.test(parts) ? parts[0] : unit;
  const lower = base.toLowerCase();
  return lower.length === 1 ? lower : base;
}

/** Fold case, accents, quotation marks and white space. The result is as long as the text. */
export function fold(text) {
  // Below 0x80 no letter has another form.
  // eslint-disable-next-line no-control-regex
  return text.replace(/[^\x00-\x7f]/g, plain).replace(/\s/g, " ").toLowerCase();
}

/** What is looked for, of what was typed. */
export function wanted(typed) {
  return fold(typed.normalize("NFC")).trim().replace(/ +/g, " ");
}

/** Where `needle` stands in `folded`, as [start, end], none overlapping: blanks of the text may be several. */
export function hitsIn(folded, needle) {
  const words = needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", " +");
  return [...folded.matchAll(new RegExp(words, "g"))].map((hit) => [hit.index, hit.index + hit[0].length]);
}

/** The texts below some elements as one, with a way back from an offset in it to a text node. */
export class TextOf {
  #nodes = [];

  constructor(elements, skipped) {
    const parts = [];
    let length = 0;
    for (const element of elements) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = /** @type {Text} */ (walker.currentNode);
        if (skipped && node.parentElement.closest(skipped)) continue;
        this.#nodes.push({ node, start: length });
        parts.push(node.data);
        length += node.data.length;
      }
      parts.push("\0"); // a hit does not reach from a heading into the text
      length += 1;
    }
    this.folded = fold(parts.join(""));
  }

  range(start, end) {
    const range = document.createRange();
    const first = this.#at(start);
    const last = this.#at(end - 1);
    range.setStart(first.node, start - first.start);
    range.setEnd(last.node, end - last.start);
    return range;
  }

  #at(offset) {
    let low = 0;
    let high = this.#nodes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#nodes[middle].start <= offset) low = middle;
      else high = middle - 1;
    }
    return this.#nodes[low];
  }
}
