// Says how the saving goes: the clock that changes only after a receipt, and the bar that names what is unsent and why.

import { guard } from "../saving/leaving.js";
import { actsIn } from "../saving/queue.js";
import { copyOf } from "../shared/template.js";
import { plural, put } from "../shared/text.js";

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const minutes = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DONE_MS = 10_000; // how long the good news stays

/** Return why nothing is saved at the moment, as a sentence, or "" when nothing is wrong. `words`: the stage's own. */
function trouble({ problem, halted, ended }, words) {
  if (ended !== null) return `${ended} What was saved is kept. Nothing more can be saved here.`;
  if (halted === "signed-out") return "You are signed out.";
  if (halted === "conflict") return words.conflict;
  if (problem === "slow") return "The server has not answered yet.";
  if (problem?.startsWith("server ")) {
    return `The server could not save (${problem.slice(7)}).`;
  }
  return problem ? "Not connected." : "";
}

function leaving(count) {
  return `Leaving when ${count} ${plural(count, "change is", "changes are")} saved.`;
}

function setAside(count) {
  return `${count} ${plural(count, "change could not be applied and is", "changes could not be applied and are")} set aside.`;
}

/** The bar under the header. */
export class Banner {
  #desk;
  #notice = copyOf("notice-save");
  #saved = document.getElementById("saved");
  #outage = false;
  #recovered = []; // operations that arrived since the outage began
  #done = "";
  #doneTimer = null;
  #leaving = null;
  #announced = "";

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
    document.querySelector("[data-notice=save]").append(this.#notice);
    const acts = {
      try: () => desk.save.retryNow(),
      download: () => desk.save.download(),
      "sign-in": () => desk.signIn?.show(),
      compare: () => desk.conflict?.show(),
      leave: () => this.#leaving?.(),
    };
    for (const [name, act] of Object.entries(acts)) this.#part(`[data-act=${name}]`).addEventListener("click", act);
    desk.save.addEventListener("receipt", ({ detail }) => this.#receipt(detail.op));
    desk.save.addEventListener("state", () => this.#update());
    setInterval(() => this.#countDown(), 500);
    guard(desk.save, (go) => {
      this.#leaving = go;
      this.#update();
    });
    this.#update();
  }

  #part(selector) {
    return this.#notice.querySelector(selector);
  }

  #receipt(op) {
    if (this.#outage) this.#recovered.push(op);
    this.#saved.textContent = `Saved ${clock.format(new Date())}`;
    this.#saved.classList.remove("is-old");
  }

  // While something waits, the time of the last saving is not good news.
  #drawSaved({ unsent, lastSavedAt }, wrong) {
    if (!wrong || !unsent || !lastSavedAt) return;
    this.#saved.textContent = `Last saved ${minutes.format(lastSavedAt)}`;
    this.#saved.classList.add("is-old");
  }

  #update() {
    const state = this.#desk.save.state();
    const wrong = state.unsent > 0 || ["ended", "signed-out"].includes(state.halted) ? trouble(state, this.#desk.words) : "";
    // The other bar says it, or it is nothing for the account that is signed in now.
    const elsewhere = ["elsewhere", "moved"].includes(state.halted) || this.#desk.save.session.state === "other";
    this.#drawSaved(state, wrong);
    if (wrong && !this.#outage) this.#begin(`${wrong} ${this.#waiting(state)}`);
    if (this.#outage && !state.unsent && !state.halted && state.connected) this.#end();
    const says = elsewhere ? "" : this.#words(state, wrong);
    const focused = this.#notice.contains(document.activeElement) ? document.activeElement : null;
    put(this.#notice, "[data-says]", says);
    this.#show(state, wrong && !elsewhere);
    this.#notice.hidden = !says;
    this.#notice.toggleAttribute("data-done", says === this.#done);
    // Whoever pressed a button that goes would otherwise be thrown to the top of the page.
    if (focused && !focused.checkVisibility()) this.#toTheRows();
    this.#countDown();
  }

  #toTheRows() {
    const { work } = this.#desk;
    if (!work.focus(work.current)) work.focusFirst();
  }

  #words(state, wrong) {
    if (this.#leaving && state.unsent) return `${leaving(Math.max(state.acts, 1))} ${wrong}`;
    const aside = state.aside ? setAside(state.aside) : "";
    if (wrong) return `${wrong} ${this.#waiting(state) || aside}`;
    if (aside) return aside;
    return this.#done;
  }

  #waiting({ acts, durable }) {
    return acts ? this.#unsent(acts, durable) : "";
  }

  #unsent(acts, durable) {
    const { noun } = this.#desk.words;
    const waiting = `${acts} ${plural(acts, `${noun} waits`, `${noun}s wait`)}`;
    return durable ? `${waiting} on this device; keep working.` : `${waiting} in this page only; keep it open.`;
  }

  #allSaved(acts, at) {
    const { noun } = this.#desk.words;
    return acts === 1 ? `The ${noun} is saved ${at}` : `All ${acts} ${noun}s saved ${at}`;
  }

  #show(state, wrong) {
    const shown = {
      try: wrong && !state.halted,
      download: wrong && state.unsent + state.aside > 0,
      "sign-in": state.halted === "signed-out",
      compare: state.halted === "conflict",
      leave: Boolean(this.#leaving) && state.unsent > 0,
    };
    for (const [name, visible] of Object.entries(shown)) this.#part(`[data-act=${name}]`).hidden = !visible;
    this.#part("[data-unsent]").hidden = !(state.aside || (wrong && state.unsent));
  }

  #begin(text) {
    this.#outage = true;
    this.#recovered = [];
    this.#done = "";
    this.#announce(text);
  }

  #end() {
    this.#outage = false;
    const acts = actsIn(this.#recovered);
    this.#done = acts ? this.#allSaved(acts, clock.format(new Date())) : "";
    if (this.#done) this.#announce(this.#done);
    clearTimeout(this.#doneTimer);
    this.#doneTimer = setTimeout(() => {
      this.#done = "";
      this.#update();
    }, DONE_MS);
  }

  #announce(text) {
    if (text !== this.#announced) this.#desk.announce(text, { keep: true, shown: false });
    this.#announced = text;
  }

  #countDown() {
    const { retryAt, halted, connected } = this.#desk.save.state();
    const seconds = retryAt && !halted && !connected ? Math.max(0, Math.ceil((retryAt - Date.now()) / 1000)) : null;
    put(this.#notice, "[data-retry]", seconds === null ? "" : `Trying again in ${seconds} s.`);
  }
}
