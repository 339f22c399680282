// Words of a text, counted as the server counts them: evaluation/rules/places.py.

const CJK = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff";
const SOUTH_EAST_ASIAN = "\\u0e00-\\u109f\\u1780-\\u17ff\\ua9e0-\\ua9ff\\uaa60-\\uaa7f";
const LETTER = "[\\p{L}\\p{N}_]";
const REST = "[^\\s\\p{L}\\p{N}_]*";
const COUNTED = new RegExp(
  `[${CJK}]${REST}|(?:(?=[${SOUTH_EAST_ASIAN}])${LETTER}${REST}){1,3}|[^\\s${CJK}${SOUTH_EAST_ASIAN}]+`,
  "gu",
);
const UNSPACED = new RegExp(`[${CJK}${SOUTH_EAST_ASIAN}]`, "u");
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** How many words a text has: parted by white space, or about so many where a script has none. */
export function countWords(text) {
  return text.match(COUNTED)?.length ?? 0;
}

/** Return the words of a run of letters, each with its place in it: several where its script parts none. */
export function wordsInRun(run) {
  if (!UNSPACED.test(run)) return [[run, 0]];
  return [...segmenter.segment(run)].map(({ segment, index }) => [segment, index]);
}
