// The desk by its stage, for JSDoc comments in all scripts. An `import("…")` in a comment of a script would be taken for
// an import when names of static files are hashed, and make a circle of imports.

type Desk = import("../static/js/desk/start.js").Desk;
type RowStore = import("../static/js/desk/store.js").RowStore;

/** The desk at which nuggets are made. */
interface NuggetDesk extends Desk {
  store: import("../static/js/desk/store.js").Store;
  nuggets: import("../static/js/nuggets/nuggets.js").NuggetList;
  passages: ReturnType<typeof import("../static/js/nuggets/passages.js").setup>;
  work: NuggetDesk["nuggets"];
}

/** The desk at which answers are judged. */
interface JudgingDesk extends Desk {
  store: import("../static/js/judge/labels.js").LabelStore;
  answers: import("../static/js/judge/answer-pane.js").AnswerPane;
  finishing: import("../static/js/judge/finishing.js").Finishing;
  progress: import("../static/js/judge/progress.js").JudgingProgress;
  search: import("../static/js/judge/search.js").Search;
  texts: import("../static/js/judge/texts.js").Texts;
  labels: JudgingDesk["work"];
  work: JudgingWork;
  go(id: string): void;
}

/** Pairs of a sentence and a passage, or nuggets of an answer; what only one of the two has is optional. */
type JudgingWork = (
  | import("../static/js/judge/pairs.js").PairLabelling
  | import("../static/js/judge/assigning.js").AnswerLabelling
  | import("../static/js/judge/battles.js").BattleLabelling
) & {
  ready?: Promise<void>;
  defining?: (define: Desk["keys"]["define"]) => Desk["keys"]["define"];
  standOn?: (key: string) => void;
  uncover?: (element: Element) => void;
  sweep?: import("../static/js/judge/sweep.js").Sweep;
};
