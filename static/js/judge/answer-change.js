// The change from one answer to the next, where the last label of an answer leads: the title is shown for some seconds, and
// for a moment no key labels the new answer, since nobody has read it yet.

const SHOWN_MS = 4000;
const UNREAD_MS = 1000; // in less, nobody reads an answer

export class AnswerChange {
  #desk;
  #answers;
  #passed = document.getElementById("answer-passed");
  #place = this.#passed.parentElement.closest(".asked, .rows-head");
  #rows = document.getElementById("rows");
  #answer = null;
  #shown = 0;
  #unread = 0;

  /** @param {JudgingDesk} desk */
  constructor(desk, answers) {
    this.#desk = desk;
    this.#answers = answers;
    answers.addEventListener("answer", () => this.#pass());
    answers.addEventListener("text", () => this.isUnread && this.#wait());
  }

  /** Whether the answer came only just now, by a label of the one before. */
  get isUnread() {
    return "unread" in this.#rows.dataset;
  }

  /** Let the answer be read for a moment before it can be labelled. */
  hold() {
    this.#rows.dataset.unread = "";
    if (this.#desk.texts.now(this.#answers.current)) this.#wait();
  }

  #wait() {
    clearTimeout(this.#unread);
    this.#unread = setTimeout(() => this.#read(), UNREAD_MS);
  }

  #read() {
    delete this.#rows.dataset.unread;
  }

  // Another answer begins: say so for some seconds.
  #pass() {
    this.#read();
    const isFirst = this.#answer === null;
    if (this.#answer === this.#answers.current) return;
    this.#answer = this.#answers.current;
    if (isFirst) return;
    this.#passed.textContent = this.#answers.title();
    this.#show(true);
    clearTimeout(this.#shown);
    this.#shown = setTimeout(() => this.#show(false), SHOWN_MS);
  }

  #show(is) {
    this.#passed.hidden = !is;
    this.#place.classList.toggle("is-passed", is);
  }
}
