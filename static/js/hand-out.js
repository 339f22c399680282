/* Handing out: the ticks follow the chosen stage, and the buttons tick without a reload. */
const form = document.querySelector("form[data-hand-out]");

const stage = () => form.querySelector("input[name=stage]:checked")?.value ?? "";

const lacksStage = (label) => !label.dataset.stages.split(" ").includes(stage());

function tick(choose) {
  let lacking = 0;
  for (const label of form.querySelectorAll("label[data-stages]")) {
    const lacks = lacksStage(label);
    lacking += lacks;
    label.querySelector("input").checked = choose === "all" || (choose === "lacking" && lacks);
  }
  form.querySelector("[data-all-have-it]").hidden = lacking > 0;
}

form?.addEventListener("change", (event) => {
  if (event.target.name === "stage") {
    tick("lacking");
  }
});

form?.addEventListener("click", (event) => {
  const button = event.target.closest("button[name=choose]");
  if (button) {
    event.preventDefault();
    tick(button.value);
  }
});
