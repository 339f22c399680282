// Unsent work survives the page: operations and half-typed texts wait in IndexedDB until the server has them.
// Every entry names its account, so that another account on the same machine neither sees nor sends it.

const DATABASE = "assay-outbox";
const TYPING_DELAY = 500; // a kept text is at most this many milliseconds behind the typing

/** Return the promise of an IndexedDB request's result. */
function result(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Open the database, made on the first visit. */
function openDatabase() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    const entries = request.result.createObjectStore("entries", { keyPath: ["user", "op_id"] });
    entries.createIndex("owner", ["user", "task"]);
    const texts = request.result.createObjectStore("texts", { keyPath: ["user", "task", "window", "slot"] });
    texts.createIndex("owner", ["user", "task"]);
    request.result.createObjectStore("windows"); // ids of this browser's windows: localStorage is lost in a crash
  };
  return result(request);
}

export class Outbox {
  #database = null;
  #owner;
  #window;
  #order = 0;
  #texts = new Map(); // slot -> {value, at}: what this window keeps
  #unwritten = new Map(); // slot -> timer

  /** `user` and `task` say whose work this is, `own` is the id of this window. */
  constructor({ user, task, window: own }) {
    this.#owner = { user, task };
    this.#window = own;
  }

  /** Open the database. Where there is none, everything is kept in this page alone and `durable` stays false. */
  async open() {
    try {
      this.#database = await openDatabase();
      for (const text of await this.#all("texts")) {
        if (text.window === this.#window) this.#texts.set(text.slot, { value: text.value, at: text.at });
      }
    } catch {
      this.#database = null;
    }
    return this;
  }

  get durable() {
    return this.#database !== null;
  }

  /** Keep operations until `remove`, behind those that are kept already; those of the same ids are written anew. */
  add(ops) {
    return this.#write("entries", (store) => ops.forEach((op) => store.put(this.#entry(op))));
  }

  #entry(op, aside = null) {
    // Ordered by the clock, so that two windows' entries can be put in order; never backwards.
    this.#order = Math.max(this.#order + 1, Date.now() * 1000);
    return { ...this.#owner, window: this.#window, op_id: op.op_id, order: this.#order, op, aside };
  }

  /** Forget operations that the server has. */
  remove(ids) {
    return this.#write("entries", (store) => ids.forEach((id) => store.delete([this.#owner.user, id])));
  }

  /** Keep operations apart that will not be sent, with `why`, so that nothing typed is lost. */
  setAside(ops, why) {
    return this.#write("entries", (store) => ops.forEach((op) => store.put(this.#entry(op, why))));
  }

  /** Return this window's entries in order: `queued` operations, and those set aside with `why`. */
  async list() {
    const own = (await this.#all("entries")).filter((entry) => entry.window === this.#window);
    own.sort((entry, other) => entry.order - other.order);
    this.#order = own.at(-1)?.order ?? 0;
    return {
      queued: own.filter((entry) => !entry.aside).map((entry) => entry.op),
      aside: own.filter((entry) => entry.aside).map((entry) => ({ op: entry.op, ...entry.aside })),
    };
  }

  /** Take over what windows left behind that are no longer open. `alive(id)` tells whether a window is. */
  async adopt(alive) {
    await this.flushTexts();
    const left = (entry) => entry.window !== this.#window && !alive(entry.window);
    await this.#write("entries", (store) => this.#each(store, left, (entry) => store.put({ ...entry, window: this.#window })));
    await this.#write("texts", (store) => this.#each(store, left, (text) => this.#adoptText(store, text)));
  }

  #adoptText(store, text) {
    const own = this.#texts.get(text.slot);
    if (own && own.at >= text.at) return; // stays where it is: still in the copy, never in the way of newer words
    this.#texts.set(text.slot, { value: text.value, at: text.at });
    store.delete([text.user, text.task, text.window, text.slot]);
    store.put({ ...text, window: this.#window });
  }

  /** Put back what this tab noted when its last page was left: newer than what was written here before. */
  async putBack({ at, ops, texts }) {
    const there = new Set((await this.#all("entries")).map((entry) => entry.op_id));
    await this.add(ops.filter((op) => !there.has(op.op_id)));
    for (const [slot, text] of [...this.#texts]) {
      if (text.at <= at && !(slot in texts)) this.keepText(slot, null);
    }
    for (const [slot, value] of Object.entries(texts)) {
      if (!(this.#texts.get(slot)?.at > at)) this.keepText(slot, value);
    }
  }

  /** Keep a text that is being typed; null: it is no longer needed. */
  keepText(slot, value) {
    if (value === null || value === undefined) {
      this.#texts.delete(slot);
    } else {
      this.#texts.set(slot, { value, at: Date.now() });
    }
    if (!this.#unwritten.has(slot)) {
      this.#unwritten.set(slot, setTimeout(() => this.#writeText(slot), TYPING_DELAY));
    }
  }

  /** Write at once what typing has left to be written. */
  flushTexts() {
    return Promise.all([...this.#unwritten.keys()].map((slot) => this.#writeText(slot)));
  }

  #writeText(slot) {
    clearTimeout(this.#unwritten.get(slot));
    this.#unwritten.delete(slot);
    const { user, task } = this.#owner;
    const text = this.#texts.get(slot);
    return this.#write("texts", (store) => {
      if (text) store.put({ ...this.#owner, window: this.#window, slot, ...text });
      else store.delete([user, task, this.#window, slot]);
    });
  }

  /** Return the kept texts of this window by slot. */
  texts() {
    return Object.fromEntries([...this.#texts].map(([slot, text]) => [slot, text.value]));
  }

  async #all(name) {
    if (!this.#database) return [];
    const store = this.#database.transaction(name).objectStore(name);
    return result(store.index("owner").getAll([this.#owner.user, this.#owner.task]));
  }

  /** Do `act` with every value of the owner that `wanted` picks. */
  #each(store, wanted, act) {
    const range = IDBKeyRange.only([this.#owner.user, this.#owner.task]);
    store.index("owner").openCursor(range).onsuccess = (event) => {
      const cursor = event.target.result;
      if (!cursor) return;
      if (wanted(cursor.value)) act(cursor.value);
      cursor.continue();
    };
  }

  /** Run `act` in a transaction and wait until it is on the disk. A full disk makes the outbox say so, not fail. */
  #write(name, act) {
    if (!this.#database) return Promise.resolve();
    return new Promise((resolve) => {
      try {
        const transaction = this.#database.transaction(name, "readwrite");
        act(transaction.objectStore(name));
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => this.#lost(resolve);
      } catch {
        this.#lost(resolve);
      }
    });
  }

  #lost(resolve) {
    this.#database = null;
    resolve();
  }
}

/** Everything that an account has kept on this device, on all its tasks: for signing out. */
export async function accountsOutbox(user) {
  const database = await openDatabase();
  const range = IDBKeyRange.bound([user], [user, []]);
  const stores = (mode) => ["entries", "texts"].map((name) => database.transaction(name, mode).objectStore(name));
  const [entries, texts] = await Promise.all(stores("readonly").map((store) => result(store.getAll(range))));
  return {
    unsent: entries.filter((entry) => !entry.aside).length + texts.length,
    copy: { format: "assay-unsent-changes-of-all-tasks", version: 1, user, entries, texts },
    clear: () => Promise.all(stores("readwrite").map((store) => result(store.delete(range)))),
  };
}

/** Write down that a window is one of this browser's. */
export async function rememberWindow(id) {
  const database = await openDatabase();
  await result(database.transaction("windows", "readwrite").objectStore("windows").put(Date.now(), id));
}

/** Whether a window is or was one of this browser's. */
export async function isRemembered(id) {
  const database = await openDatabase();
  return (await result(database.transaction("windows").objectStore("windows").count(id))) > 0;
}
