// Words that depend on a number, and names in a row.

/** "change" for 1 and "changes" for any other number; `many` where an s is not enough. */
export function plural(number, one, many = `${one}s`) {
  return number === 1 ? one : many;
}

/** Names one after the other, as a sentence has them: "N4, N5 and N6". */
export function together(names) {
  return new Intl.ListFormat(document.documentElement.lang).format(names);
}
