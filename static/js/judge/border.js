// The border between two answers. A label may lead over it, and the next answer would else be seen by its heading alone.

const SHOWN_MS = 4000;

export class Border {
  #question = document.getElementById("asked");
  #passed = document.getElementById("answer-passed");
  #timer = 0;

  /** Show for some seconds that another answer begins: `title`, and a rule. */
  pass(title) {
    this.#passed.textContent = title;
    this.#show(true);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(false), SHOWN_MS);
  }

  #show(is) {
    this.#passed.hidden = !is;
    this.#question.classList.toggle("is-passed", is);
  }
}
