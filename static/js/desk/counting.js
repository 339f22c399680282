/** "1 hit", "2 hits". */
export function count(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
