/* Handing out: the ticks follow the chosen stage, the buttons tick and the filter finds without a reload, and the
 * preview follows all of it.
 *
 * Topics that were ticked one by one, here or among the work, stay ticked whatever the stage: only the buttons
 * tick others in their place. */
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-hand-out]"));

const labels = /** @type {HTMLLabelElement[]} */ ([...(form?.querySelectorAll("label[data-stages]") ?? [])]);

const filter = /** @type {HTMLInputElement | null | undefined} */ (form?.querySelector("#topic-filter"));

const stage = () => /** @type {HTMLInputElement | null} */ (form.querySelector("input[name=stage]:checked"))?.value ?? "";

const lacksStage = (label) => !label.dataset.stages.split(" ").includes(stage());

function tick(choose) {
  for (const label of labels) {
    // What the filter hides is not meant by a button.
    if (!label.hidden) {
      label.querySelector("input").checked = choose === "all" || (choose === "lacking" && lacksStage(label));
    }
  }
}

/** Only the chosen stage's fields are there, and no other is sent. */
function showOwnFields() {
  for (const group of /** @type {NodeListOf<HTMLFieldSetElement>} */ (form.querySelectorAll("fieldset[data-of]"))) {
    group.hidden = !group.dataset.of.split(" ").includes(stage());
    group.disabled = group.hidden;
  }
  form.querySelector("[data-all-have-it]").hidden = labels.some(lacksStage);
}

function count() {
  const ticked = labels.filter((label) => label.querySelector("input").checked).length;
  const shown = labels.filter((label) => !label.hidden).length;
  const found = filter.value ? `, ${shown} found` : "";
  form.querySelector("[data-ticked-count]").textContent = `${ticked} of ${labels.length} ticked${found}`;
}

if (form) {
  filter.hidden = false;
  showOwnFields();
  count();
  document.addEventListener("DOMContentLoaded", () => {
    // What was chosen before the scripts were there has no preview yet.
    const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[type=radio], input[type=checkbox]")]);
    const changed = boxes.find((box) => box.checked && !box.defaultChecked);
    changed?.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

form?.addEventListener("input", (event) => {
  const tickedBefore = form.ticked_before;
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  if (name === "stage") {
    showOwnFields();
    if (!tickedBefore.value) tick("lacking");
  } else if (name === "topics") {
    tickedBefore.value = "1";
  }
  count();
});

filter?.addEventListener("input", (event) => {
  event.stopPropagation(); // it changes nothing that is sent
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const label of labels) {
    const text = label.textContent.toLowerCase();
    label.hidden = !words.every((word) => text.includes(word));
  }
  count();
});

form?.addEventListener("keydown", (event) => {
  // Enter in a field would press the form's first button, which ticks topics.
  const field = /** @type {HTMLElement} */ (event.target);
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && field.matches("input")) event.preventDefault();
});

form?.addEventListener("click", (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.target.closest("button[name=choose]"));
  if (button) {
    event.preventDefault();
    form.ticked_before.value = "";
    tick(button.value);
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
