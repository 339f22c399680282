// The desk at which answers are judged: nuggets assigned, or support judged. What all desks share is in ../desk.

import { stepOf } from "../desk/directions.js";
import { sayReadonly } from "../desk/reading-only.js";
import { startDesk } from "../desk/start.js";
import { plural } from "../shared/text.js";
import { AnswerPane } from "./answer-pane.js";
import { Finishing } from "./finishing.js";
import { followClicks } from "./focus-return.js";
import { LabelStore, LabelVersions } from "./labels.js";
import { practise } from "./practice.js";
import { JudgingProgress } from "./progress.js";
import { Search } from "./search.js";
import { followSteps } from "./steps.js";
import { Texts } from "./texts.js";
import { wordOf } from "./words.js";

/** @param {JudgingDesk} desk */
async function setUp(desk) {
  const progress = new JudgingProgress(desk.store, desk.stage);
  const texts = new Texts(desk, progress);
  desk.progress = progress;
  desk.texts = texts;
  desk.versions = new LabelVersions(desk);
  desk.answers = new AnswerPane(desk, progress, texts);
  desk.go = (id) => {
    desk.answers.show(id);
    desk.labels.arrive();
  };
  desk.resume = () => {
    const answer = progress.unfinished();
    if (answer) desk.work.focus(progress.unlabelled(answer.id)[0]);
  };
  const Labelling = await labellingOf(desk.store);
  desk.labels = desk.work = new Labelling(desk, progress, desk.answers);
  await desk.work.ready;
  desk.words.told = (op) => toldOf(desk, op);
  const define = desk.work.defining?.(desk.keys.define) ?? desk.keys.define;
  desk.finishing = new Finishing(desk, progress, desk.answers, define);
  followSteps(desk);
  followClicks(document.getElementById("rows"), desk.work);
  defineKeys(desk, define);
  if ("practice" in document.body.dataset) practise(desk);
  begin(desk);
}

/** @param {LabelStore} store */
async function labellingOf({ asksPairs, hasSides }) {
  if (asksPairs) return (await import("./pairs.js")).PairLabelling;
  if (hasSides) return (await import("./battles.js")).BattleLabelling;
  return (await import("./assigning.js")).AnswerLabelling;
}

/** What is unsent, in words. */
function toldOf({ work, store }, { kind, payload }) {
  if (kind === "open" || kind === "sweep") return "";
  if (kind === "search") return payload.words;
  const key = payload.key ?? null;
  if (!key) return "";
  return `${work.name(key)}, ${wordOf(store.label(key), key)}${payload.reason ? `: ${payload.reason}` : ""}`;
}

/** @param {JudgingDesk} desk */
function defineKeys(desk, define) {
  const { answers, store, work } = desk;
  const searched = store.asksPairs ? work.pane : answers.root;
  const search = new Search(desk, searched.querySelector("[role=search]"), () => work.searched());
  desk.search = search;
  answers.addEventListener("text", () => search.again());
  // A text that is not loaded yet has no hits to count; the old one is gone once the answer is shown.
  answers.addEventListener("answer", () => queueMicrotask(() => search.again()));
  define({ id: "answer-previous", run: () => answers.jump.step(-1) });
  define({ id: "answer-next", run: () => answers.jump.step(1) });
  define({ id: "answer-sentence-previous", run: (event) => answers.step(stepOf(event, -1)) });
  define({ id: "answer-sentence-next", run: (event) => answers.step(stepOf(event, 1)) });
  define({
    id: "answer-search",
    run: () => {
      document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: searched.id } }));
      search.open();
    },
  });
  define({ id: "hit-next", run: () => search.step(1) });
  define({ id: "hit-previous", run: () => search.step(-1) });
  define({ id: "search-away", run: () => work.leftSearch(search.leave()) });
  work.defineKeys(define);
}

// Where work goes on: the place of the last visit if its answer is still there, else the first unfinished answer.
/** @param {JudgingDesk} desk */
function begin(desk) {
  const there = desk.progress.answer(desk.known.answers?.answer);
  const first = there ?? desk.progress.unfinished() ?? desk.progress.answers[0];
  if (first) desk.answers.show(first.id);
  document.addEventListener("desk:readonly", ({ detail }) => detail.readonly || goOn(desk));
}

// A window that writes again, with what a closed one had left, may stand on what was judged there.
function goOn({ progress, answers, work }) {
  const isJudged = work.current && progress.isLabelled(work.current);
  const next = isJudged ? progress.unlabelledAfter(null, answers.current) : null;
  if (next) work.focus(next);
}

/** The desk of this page, once it is ready. */
export const desk = startDesk({
  Store: LabelStore,
  setUp,
  parts: ["answers", "labels"],
  words: {
    get readonly() {
      return sayReadonly("This version is submitted: its labels cannot be changed");
    },
    conflict: "A label was changed in another window as well.",
    noun: "label",
    choose: "Choose which one to keep.",
    submitted: ({ labels: count }) => `Submitted, ${count} ${plural(count, "label")}`,
  },
});
