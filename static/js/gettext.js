// The words that scripts write, in the language of the page. Django's JavaScriptCatalog brings them, in a plain script
// before the modules (templates/components/script_words.html). Where that did not arrive the words are English, and
// everything else goes on as it would: no work is lost for want of a word.

const inEnglish = {
  gettext: (text) => text,
  pgettext: (_context, text) => text,
  ngettext: (one, many, number) => (number === 1 ? one : many),
};

export const { gettext, pgettext, ngettext } = { ...inEnglish, ...globalThis.django };

/** Mark a text that is kept in English, and is shown by `gettext`. */
export const gettext_noop = (text) => text;

/** Fill values into a text by their names, as "%(done)s of %(total)s". */
export function interpolate(text, values) {
  return text.replace(/%\((\w+)\)s/g, (_found, name) => String(values[name]));
}

/** Names one after the other, as a sentence has them: "N4, N5 and N6". */
export function together(names) {
  return new Intl.ListFormat(document.documentElement.lang).format(names);
}
