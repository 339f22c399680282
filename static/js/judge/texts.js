// The texts of the answers, each asked for once, but for the one that is in the page. The current one, the three after it
// and the one before are fetched, so that judging goes on for a while without network. Fetching marks nothing as seen.

import { UNIT } from "./words.js";

const AHEAD = [1, 2, 3, -1];
const PARTS = ".side, [data-index], .answer-title"; // of a text as the server sends it
const PATIENCE = 15_000;
const LONG = 50_000; // letters of HTML, which take some ms to parse

/** Why a text is not there. `message` is for the assessor. */
export class NotThere extends Error {}

export class Texts {
  #desk;
  #progress;
  #texts = new Map(); // answer id -> promise of {sentences, passages}
  #ready = new Map(); // answer id -> the same, once it is there

  /** @param {JudgingDesk} desk */
  constructor(desk, progress) {
    this.#desk = desk;
    this.#progress = progress;
    this.#readPage();
  }

  /** The answer that the server put into the page, with what it cites. */
  #readPage() {
    const { answer } = document.getElementById("answer").dataset;
    if (!answer) return;
    const sentences = document.querySelectorAll(`#answer-text :is(${PARTS})`);
    const others = /** @type {HTMLTemplateElement} */ (document.getElementById("first-passages")).content;
    const open = document.querySelectorAll("#cited > article"); // of the pair that is asked first
    const passages = [...others.querySelectorAll("article"), ...open];
    const text = {
      sentences: [...sentences].map(copyOf),
      passages: new Map(passages.map((article) => [article.dataset.passage, copyOf(article)])),
    };
    this.#ready.set(answer, text);
    this.#texts.set(answer, Promise.resolve(text));
  }

  /** What is there already of an answer: {sentences: [element], passages: Map of elements}, or null. */
  now(id) {
    return this.#ready.get(id) ?? null;
  }

  /** Return an answer's text. Rejects with `NotThere`; asking again tries again. */
  get(id) {
    if (!this.#texts.has(id)) {
      const asking = this.#fetch(id);
      this.#texts.set(id, asking);
      asking.then((text) => this.#ready.set(id, text)).catch(() => this.#texts.delete(id));
    }
    return this.#texts.get(id);
  }

  /** Fetch what comes next, one after the other, and quietly: who goes there hears what is wrong. */
  async prefetch(id) {
    for (const by of AHEAD) {
      const next = this.#progress.beside(id, by);
      if (next) await this.get(next.id).catch(() => {});
    }
  }

  async #fetch(id) {
    const { urls, save } = this.#desk;
    const answer = await Promise.race([
      save.session.get(`${urls.task}answers/${id}/`).catch(() => null),
      new Promise((resolve) => setTimeout(resolve, PATIENCE, null)),
    ]);
    if (answer === null) {
      throw new NotThere(`There is no connection, and this ${UNIT.toLowerCase()} was not loaded before.`);
    }
    if (answer.status === 401) {
      save.session.check().catch(() => {});
      throw new NotThere("Sign in first; then try again.");
    }
    if (answer.status !== 200 || !answer.body) {
      throw new NotThere(`The server did not give this ${UNIT.toLowerCase()} (${answer.status}).`);
    }
    return read(answer.body);
  }
}

/** @template {Node} T @param {T} node @returns {T} */
function copyOf(node) {
  return /** @type {T} */ (node.cloneNode(true));
}

async function read({ html, passages }) {
  const parse = (text) => new DOMParser().parseFromString(text, "text/html").body;
  const articles = new Map();
  for (const [id, text] of Object.entries(passages)) {
    // Several long ones at once would hold up whoever works on the answer before.
    if (text.length > LONG) await keysDone();
    articles.set(id, parse(text).querySelector("article"));
  }
  return { sentences: [...parse(html).querySelectorAll(PARTS)], passages: articles };
}

/** Wait until what was pressed meanwhile is done. */
function keysDone() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
}
