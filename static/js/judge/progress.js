// What is asked, answer by answer, and how much of it has a label. A pair whose passage is not there, or whose machine
// label is still to come, is shown and not asked.

/** What is shown for a pair instead of the question, "" where it is asked. */
export function hindranceOf(pair, stage) {
  if (!pair.judgeable) return "no-text";
  return stage === "support-post-edit" && !pair.machine ? "waits" : "";
}

export class JudgingProgress {
  #store;
  #stage;

  constructor(store, stage) {
    this.#store = store;
    this.#stage = stage;
    this.load();
    store.addEventListener("change", ({ detail }) => detail.cause === "reload" && this.load());
  }

  /** Read anew what there is to judge: answers may be added, and labels of machines arrive. */
  load() {
    const { answers, nuggets, pairs } = this.#store;
    this.answers = answers;
    const judgeable = pairs.filter((pair) => !hindranceOf(pair, this.#stage));
    // An answer that names its nuggets is asked about those only.
    const keysOf = ({ id, nuggets: own = nuggets.map(({ key }) => key) }) =>
      this.#store.asksPairs
        ? judgeable.filter((pair) => pair.answer === id).map((pair) => pair.key)
        : own.map((nugget) => `${id}/${nugget}`);
    this.keysByAnswer = new Map(answers.map((answer) => [answer.id, keysOf(answer)]));
    this.answerByKey = new Map([...this.keysByAnswer].flatMap(([id, keys]) => keys.map((key) => [key, id])));
  }

  answer(id) {
    return this.answers.find((answer) => answer.id === id) ?? null;
  }

  /** The answer `by` places after another, in the task's order. */
  beside(id, by) {
    return this.answers[this.answers.findIndex((answer) => answer.id === id) + by] ?? null;
  }

  keys(answer) {
    return this.keysByAnswer.get(answer) ?? [];
  }

  isLabelled(key) {
    return this.#store.label(key) !== null;
  }

  unlabelled(answer) {
    return this.keys(answer).filter((key) => !this.isLabelled(key));
  }

  /** Where judging an answer begins: its first key without a label, else its first; null where nothing is asked. */
  firstOf(answer) {
    return this.unlabelled(answer)[0] ?? this.keys(answer)[0] ?? null;
  }

  /** {done, total} of an answer, or of all. */
  counts(answer = null) {
    const keys = answer === null ? [...this.answerByKey.keys()] : this.keys(answer);
    return { done: keys.filter((key) => this.isLabelled(key)).length, total: keys.length };
  }

  get isDone() {
    return [...this.answerByKey.keys()].every((key) => this.isLabelled(key));
  }

  /** The first answer with something left to judge. `after`: behind that one, then from the top, itself last. */
  unfinished(after = null) {
    const at = this.answers.findIndex((answer) => answer.id === after);
    const inTurn = [...this.answers.slice(at + 1), ...this.answers.slice(0, at + 1)];
    return inTurn.find(({ id }) => this.unlabelled(id).length) ?? null;
  }

  /** Where a label leads: what is left of its answer, from there on, then of the others; null: everything is judged. */
  nextAfter(key) {
    const answer = this.answerByKey.get(key);
    const keys = this.keys(answer);
    const at = keys.indexOf(key);
    const here = [...keys.slice(at + 1), ...keys.slice(0, at)].find((next) => !this.isLabelled(next));
    return here ?? this.firstOf(this.unfinished(answer)?.id ?? null);
  }

  /** The first unlabelled key behind `key`, or with null from the top of an answer on; null: everything is judged. */
  unlabelledAfter(key, answer) {
    const keys = [...this.keysByAnswer.values()].flat();
    const from = key === null ? this.#keysBefore(answer) : keys.indexOf(key) + 1;
    const inTurn = [...keys.slice(from), ...keys.slice(0, from)];
    return inTurn.find((next) => !this.isLabelled(next)) ?? null;
  }

  #keysBefore(answer) {
    const at = this.answers.findIndex(({ id }) => id === answer);
    return this.answers.slice(0, at).flatMap(({ id }) => this.keys(id)).length;
  }
}
