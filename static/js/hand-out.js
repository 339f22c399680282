/* Handing out: the ticks follow the chosen stage, and the buttons tick without a reload.
 *
 * Topics that were ticked one by one, here or among the work, stay ticked whatever the stage: only the buttons
 * tick others in their place. */
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-hand-out]"));

const stage = () => /** @type {HTMLInputElement | null} */ (form.querySelector("input[name=stage]:checked"))?.value ?? "";

const lacksStage = (label) => !label.dataset.stages.split(" ").includes(stage());

function tick(choose) {
  let lacking = 0;
  for (const label of form.querySelectorAll("label[data-stages]")) {
    const lacks = lacksStage(label);
    if (lacks) lacking += 1;
    if (choose !== "as before") {
      label.querySelector("input").checked = choose === "all" || (choose === "lacking" && lacks);
    }
  }
  form.querySelector("[data-all-have-it]").hidden = lacking > 0;
}

/** Only the chosen stage's fields are there, and no other is sent. */
function showOwnFields() {
  for (const group of /** @type {NodeListOf<HTMLFieldSetElement>} */ (form.querySelectorAll("fieldset[data-of]"))) {
    group.hidden = !group.dataset.of.split(" ").includes(stage());
    group.disabled = group.hidden;
  }
}
if (form) showOwnFields();

form?.addEventListener("change", (event) => {
  const tickedBefore = form.ticked_before;
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  if (name === "stage") {
    showOwnFields();
    tick(tickedBefore.value ? "as before" : "lacking");
  } else if (name === "topics") {
    tickedBefore.value = "1";
  }
});

form?.addEventListener("click", (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.target.closest("button[name=choose]"));
  if (button) {
    event.preventDefault();
    form.ticked_before.value = "";
    tick(button.value);
  }
});
