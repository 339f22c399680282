// What one tells the organizers: comments, flags, requests to reopen, interruptions. What is typed is kept on this
// device until the server has it; sending it twice makes one remark, because the page gives it its id.

import { trimmed } from "../shared/text.js";

const KINDS = {
  comment: {
    title: "Comment to the organizers",
    help: "Only the organizers read it.",
    label: "Comment",
  },
  flag: {
    title: "Flag to the organizers",
    help: "Something is wrong or unclear, and an organizer should look.",
    label: "What is wrong",
  },
  "reopen request": {
    title: "Ask to reopen",
    help: "An organizer decides. This version stays as it is; a new one would start from a copy of it.",
    label: "Why it should be reopened",
  },
};
const RETRY_MS = 30_000;
const slotOf = (kind) => `remark ${kind}`;

// The request waits for its answer: it is shown where it could be made.
function showAsked() {
  const asked = document.querySelector("[data-asked]");
  if (!asked) return;
  /** @type {HTMLElement} */ (asked).hidden = false;
  /** @type {HTMLElement} */ (document.querySelector("[data-act=reopen]")).hidden = true;
}

export class Remarks {
  #desk;
  #dialog = /** @type {HTMLDialogElement} */ (document.getElementById("remark-dialog"));
  #form = this.#dialog.querySelector("form");
  #fields = /** @type {{about: HTMLSelectElement, text: HTMLTextAreaElement} & HTMLFormControlsCollection} */ (
    this.#form.elements
  );
  #kind = "comment";
  #id = "";
  #from = null;

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#form.addEventListener("input", () => this.#keep(false));
    this.#form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
    this.#dialog.querySelector("[data-act=close-remark]").addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("close", () => {
      (this.#from?.checkVisibility() ? this.#from : document.getElementById("main")).focus();
    });
    document.querySelector("[data-remark-form=interruption]")?.addEventListener("submit", (event) => this.#interrupted(event));
    addEventListener("online", () => this.#sendWaiting());
    desk.save.ready.then(() => this.#sendWaiting());
  }

  /** Open the dialog; what was typed before and not sent stands in it. `about`: what is meant. */
  open(kind, about, from = document.activeElement) {
    const kept = this.#desk.save.keptTexts()[slotOf(kind)];
    const { title, help, label } = KINDS[kind];
    this.#kind = kind;
    this.#id = kept?.public_id ?? crypto.randomUUID();
    this.#from = from;
    this.#part("h2").textContent = title;
    this.#part("[data-remark-help]").textContent = help;
    this.#part("[data-remark-label]").textContent = label;
    this.#fields.about.value = kept?.about || about;
    this.#fields.text.value = kept?.text ?? "";
    this.#say("");
    this.#dialog.showModal();
    this.#fields.text.focus();
  }

  #part(selector) {
    return this.#dialog.querySelector(selector);
  }

  #say(text) {
    this.#part("[data-remark-said]").textContent = text;
  }

  #typed() {
    const { about, text } = this.#fields;
    return { kind: this.#kind, about: about.value, text: text.value, public_id: this.#id };
  }

  // `wanted`: it was sent off, so that the page may go on sending it by itself.
  #keep(wanted) {
    const remark = { ...this.#typed(), wanted };
    this.#desk.save.keepText(slotOf(this.#kind), trimmed(remark.text) ? remark : null);
    return remark;
  }

  async #submit() {
    if (!trimmed(this.#fields.text.value)) return this.#say("Write something first.");
    this.#say("");
    const remark = this.#keep(true);
    const problem = await this.#send(remark);
    if (problem) return this.#say(problem);
    if (this.#dialog.open && this.#id === remark.public_id) this.#dialog.close();
    return this.#desk.announce("Sent to the organizers");
  }

  /** Send a remark; return what is wrong, "" when the server has it. */
  async #send({ kind, about, text, public_id }) {
    const remark = { kind, about, text, public_id };
    const answer = await this.#desk.save.session.post(this.#desk.urls.remark, remark).catch(() => null);
    if (answer?.status === 200) {
      if (kind === "reopen request") showAsked();
      if (this.#desk.save.keptTexts()[slotOf(kind)]?.public_id === public_id) this.#desk.save.keepText(slotOf(kind), null);
      return "";
    }
    if (answer && answer.status >= 400 && answer.status < 500 && answer.body?.message) {
      return `Not sent. ${answer.body.message}`;
    }
    setTimeout(() => this.#sendWaiting(), RETRY_MS);
    return "Not sent yet: there is no connection. It is kept on this device and is sent as soon as there is one.";
  }

  async #sendWaiting() {
    const kept = Object.entries(this.#desk.save.keptTexts()).filter(([slot]) => slot.startsWith("remark "));
    for (const [, remark] of kept) {
      if (remark.wanted && !(await this.#send(remark))) this.#sent(remark);
    }
  }

  #sent(remark) {
    if (this.#dialog.open && this.#id === remark.public_id) this.#dialog.close();
    this.#desk.announce("Sent to the organizers");
  }

  async #interrupted(event) {
    event.preventDefault();
    const form = event.target;
    const minutes = form.elements.minutes.value;
    const remark = {
      kind: "interruption",
      about: "",
      text: `interrupted ${minutes} min`,
      public_id: crypto.randomUUID(),
      wanted: true,
    };
    this.#desk.save.keepText(slotOf(remark.kind), remark);
    const note = form.querySelector("[data-remark-said]");
    note.textContent = (await this.#send(remark)) || `Noted: interrupted ${minutes} min.`;
    this.#desk.announce(note.textContent);
    form.reset();
  }
}
