// The texts of the answers, each asked for once. The current one, the three after it and the one before are fetched, so
// that judging goes on for a while without network. Fetching marks nothing as seen.

const AHEAD = [1, 2, 3, -1];
const PATIENCE = 15_000;

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
      throw new NotThere("There is no connection, and this answer was not loaded before.");
    }
    if (answer.status === 401) {
      save.session.check().catch(() => {});
      throw new NotThere("Sign in first; then try again.");
    }
    if (answer.status !== 200 || !answer.body) {
      throw new NotThere(`The server did not give this answer (${answer.status}).`);
    }
    return read(answer.body);
  }
}

function read({ html, passages }) {
  const parse = (text) => new DOMParser().parseFromString(text, "text/html").body;
  return {
    sentences: [...parse(html).querySelectorAll("[data-index]")],
    passages: new Map(Object.entries(passages).map(([id, text]) => [id, parse(text).querySelector("article")])),
  };
}
