// Sentences that were given before their label. Each waits, over a reload too, and goes with the label of its row.

const SLOT = "place ";

export class WaitingSentences {
  #save;

  constructor(save) {
    this.#save = save;
  }

  /** The index of the sentence that waits for a row's label, or null. */
  get(key) {
    const kept = this.#save.keptTexts()[SLOT + key];
    return kept ? Number(kept.slice(1)) - 1 : null;
  }

  /** Let a sentence wait; null: none waits any more. */
  put(key, sentence) {
    this.#save.keepText(SLOT + key, sentence === null ? null : `S${sentence + 1}`);
  }

  /** Return what waits for a row, which from now on nothing does. */
  take(key) {
    const sentence = this.get(key);
    if (sentence !== null) this.put(key, null);
    return sentence;
  }
}
