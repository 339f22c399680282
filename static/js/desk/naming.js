// What a remark is about, in the names that the screen uses.

/** What the focus was on, as the screen names it: "N7", "P12 S3"; "" for the topic as a whole. */
export function placeName(element) {
  const row = element?.closest?.("[data-key]");
  if (row) return row.querySelector(".row-number")?.textContent.trim() ?? "";
  const passage = element?.closest?.("[data-segment]");
  if (!passage) return "";
  const sentence = element.closest("[data-sentence]");
  return `P${passage.dataset.number}${sentence ? ` S${Number(sentence.dataset.sentence) + 1}` : ""}`;
}
