// Requests of the desk go through here, so that a stale token is renewed and an ended session is asked for above the
// page: the page itself, its cursor and its text are never touched.

const TIMEOUT = 15_000;
const JSON_TYPE = "application/json";

const WRONG_CODE = "That code is not right. Type the one that your app shows now.";
const NOT_SIGNED_IN = "The server could not sign you in. Try again in a moment.";
const CLOSED = "This account is closed. Nobody can sign in with it. Ask an administrator.";
const ANOTHER_STEP = "This account needs another step. Sign in in a new tab, then come back here.";
const GONE = { task_ended: "", not_found: "This task is not on the server any more." };

/** What `signIn` returns when the password was right and a code is wanted too. */
const CODE_WANTED = Symbol("code");

/** A request got no answer: no network, or none in time. */
export class NoAnswer extends Error {}

export class Session extends EventTarget {
  #url;
  #user;
  #token;

  /**
   * `urls.session` tells who is signed in; `user` is the account that the page belongs to. `state` is "in", "out" or
   * "other". Events: `signed-out`, `signed-in` (the same account is back), `other-account`, and `ended` {message} when
   * the task is not this account's any more.
   */
  constructor({ urls, user, csrf = "" }) {
    super();
    this.#url = urls.session ?? "/desk/session/";
    this.#user = user;
    this.#token = csrf;
    this.state = "in";
  }

  /** The token to send with a POST. The cookie's comes first: a sign-in in another tab has renewed it already. */
  get csrf() {
    return document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]+)/)?.[1] ?? this.#token;
  }

  /** GET JSON. Returns {status, body}; body is null where the answer is no JSON. Throws `NoAnswer`. */
  async get(url) {
    return this.#heard(await this.#ask(url, { method: "GET" }));
  }

  /**
   * POST `body` as JSON (a form as it is). A stale token is renewed and the request repeated, unseen. Status 401:
   * nobody, or somebody else, is signed in; the events have said so.
   */
  async post(url, body, { keepalive = false } = {}) {
    const options = { method: "POST", body: body instanceof URLSearchParams ? body : JSON.stringify(body), keepalive };
    const answer = await this.#ask(url, options);
    if (![401, 403, 404].includes(answer.status) && !answer.moved) return answer;
    if ((await this.check()) !== "in") return { status: 401, body: null };
    return answer.status === 404 ? this.#heard(answer) : this.#ask(url, options);
  }

  // To another account every task of this one is missing, so that is asked first.
  async #heard(answer) {
    const { code, message } = answer.body ?? {};
    if (code in GONE && (await this.check()) === "in") {
      this.dispatchEvent(new CustomEvent("ended", { detail: { message: GONE[code] || message } }));
    }
    return answer;
  }

  async #ask(url, options) {
    const gone = new AbortController();
    const timer = setTimeout(() => gone.abort(), TIMEOUT);
    try {
      // A redirect is never followed: the page it leads to (sign-in, a portal) is no answer to a save.
      const always = { headers: this.#headers(options), signal: gone.signal, redirect: "manual", cache: "no-store" };
      const response = await fetch(url, { ...options, ...always });
      const isJson = response.headers.get("Content-Type")?.startsWith(JSON_TYPE);
      const body = isJson ? await response.json() : null;
      return { status: response.status, body, moved: response.type === "opaqueredirect" };
    } catch (error) {
      throw new NoAnswer(gone.signal.aborted ? "timeout" : "network", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  #headers({ method, body }) {
    const headers = { Accept: JSON_TYPE, "X-Requested-With": "XMLHttpRequest" };
    if (method === "GET") return headers;
    if (typeof body === "string") headers["Content-Type"] = JSON_TYPE;
    return { ...headers, "X-CSRFToken": this.csrf };
  }

  /** Ask the server who is signed in, and take its token. Returns the state. Throws `NoAnswer`. */
  async check() {
    const { status, body } = await this.get(this.#url);
    if (status !== 200 || !body) throw new NoAnswer("session");
    this.#token = body.csrf;
    this.#become(body.user === this.#user ? "in" : body.user ? "other" : "out");
    return this.state;
  }

  #become(state) {
    const before = this.state;
    this.state = state;
    if (state === before) return;
    this.dispatchEvent(new Event({ in: "signed-in", out: "signed-out", other: "other-account" }[state]));
  }

  /**
   * Try to sign in with a form's fields. Returns "", `CODE_WANTED`, or what is wrong, in the server's words where it
   * has some. Fields with a code go on where the password was right before.
   */
  async signIn(fields, { login, logout, factor, closed }) {
    if ((await this.check()) === "in") return "";
    if (fields.get("code")) return this.#signInByCode(fields, factor);
    if (this.state === "other") {
      await this.#ask(logout, { method: "POST" });
      await this.check();
    }
    const { status, body } = await this.#ask(login, { method: "POST", body: new URLSearchParams(fields) });
    if (status >= 400) return problemOf(status, body?.form);
    if (body?.location?.startsWith(factor)) return CODE_WANTED;
    if (body?.location?.startsWith(closed)) return CLOSED;
    return this.#outcome(body?.location ? ANOTHER_STEP : NOT_SIGNED_IN);
  }

  /** The page that asks for the code knows no JSON: it shows itself again where the code is wrong, else it leads on. */
  async #signInByCode(fields, factor) {
    const answer = await this.#ask(factor, { method: "POST", body: new URLSearchParams({ code: fields.get("code") }) });
    if (answer.status >= 400) return problemOf(answer.status, answer.body?.form);
    return answer.moved ? this.#outcome(NOT_SIGNED_IN) : WRONG_CODE;
  }

  async #outcome(otherwise) {
    await this.check();
    return this.state === "out" ? otherwise : "";
  }
}

function problemOf(status, form) {
  const errors = form && [...form.errors, ...Object.values(form.fields).flatMap((field) => field.errors)];
  if (errors?.length) return errors.join(" ");
  if (status === 429) return "Too many attempts. Wait a minute, then try again.";
  return NOT_SIGNED_IN;
}

/** Return a function that puts the cursor back: a closing dialog gives back the focus, but not the place in the text. */
function cursorNow() {
  const field = /** @type {HTMLTextAreaElement | null} */ (document.activeElement);
  if (typeof field?.selectionStart !== "number") return null;
  const { selectionStart, selectionEnd, selectionDirection } = field;
  return () => field.isConnected && field.setSelectionRange(selectionStart, selectionEnd, selectionDirection);
}

/** The dialog above the page. It opens itself; whoever signs in in another tab need not do it again here. */
export class SignIn {
  #dialog = /** @type {HTMLDialogElement} */ (document.getElementById("sign-in"));
  #save;
  #session;
  #busy = false;
  #cursor = null;

  /** @param {Desk} desk */
  constructor({ save, session }) {
    const dialog = this.#dialog;
    this.#save = save;
    this.#session = session;
    dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(event.target);
    });
    dialog.querySelector("[data-act=later]").addEventListener("click", () => dialog.close());
    dialog.querySelector("[data-act=download]").addEventListener("click", () => save.download());
    save.addEventListener("state", () => this.#offerCopy());
    dialog.addEventListener("close", () => this.#cursor?.());
    dialog.addEventListener("cancel", (event) => {
      if (session.state === "other") event.preventDefault();
    });
    for (const name of ["signed-out", "signed-in", "other-account"]) session.addEventListener(name, () => this.show());
    addEventListener("focus", () => {
      if (session.state !== "in") session.check().catch(() => {});
    });
    this.show();
  }

  /** Open or close, as the session is. Closing gives the focus, and in a field the cursor, back. */
  show() {
    const { state } = this.#session;
    document.body.toggleAttribute("data-other-account", state === "other");
    for (const part of this.#dialog.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== state;
    this.#offerCopy();
    this.#askForCode(false);
    this.#say("");
    if (state === "in") {
      this.#dialog.querySelector("form").reset();
      this.#dialog.close();
    } else if (!this.#dialog.open) {
      this.#cursor = cursorNow();
      this.#dialog.showModal();
    }
  }

  // Whoever cannot come back takes it along.
  #offerCopy() {
    this.#dialog.querySelector("[data-act=download]").hidden = this.#session.state !== "out" || !this.#save.holds;
  }

  #say(text) {
    this.#dialog.querySelector("[data-problem]").textContent = text;
  }

  /** Show the field for a code, which an account with a second factor needs, or hide it. */
  #askForCode(wanted) {
    const part = this.#dialog.querySelector("[data-code]");
    const field = part.querySelector("input");
    part.hidden = !wanted;
    field.required = wanted;
    field.value = "";
    if (wanted) field.focus();
  }

  async #submit(form) {
    if (this.#busy) return;
    this.#busy = true;
    const urls = { login: form.action, ...form.dataset };
    const problem = await this.#session
      .signIn(new FormData(form), urls)
      .catch(() => "The server does not answer. Your work is kept on this device; try again in a moment.");
    this.#busy = false;
    if (!this.#dialog.open) return;
    this.#say(problem === CODE_WANTED ? "" : problem);
    if (problem === CODE_WANTED) this.#askForCode(true);
    else form.elements[form.elements.code.required ? "code" : "password"].select();
  }
}
