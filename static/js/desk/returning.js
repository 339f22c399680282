// What the server put into a judging desk's page is where the last visit was left, as far as it knows. A window that comes
// back may know better: what is not its place is hidden until the desk's script has put the place back. No module, because
// it runs before anything is painted.

{
  const { task, answer, row, pane } = document.currentScript.dataset;
  const { answers, labels, shell } = JSON.parse(sessionStorage.getItem(`place ${task}`) ?? "{}");
  const isOneColumn = matchMedia("(max-width: 56.25rem)").matches; // as in css/desk.css
  const isElsewhere =
    (answers && answers.answer !== answer) ||
    (row && labels && labels.row !== row) ||
    (pane && shell && isOneColumn && shell.shown !== pane);
  document.documentElement.toggleAttribute("data-elsewhere", Boolean(isElsewhere));
}
