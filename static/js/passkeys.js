// Tells allauth's script which fields of the page it works on. `data-webauthn` names its function, `data-ids` the fields.

const place = document.querySelector("[data-webauthn]");
const problem = Object.assign(document.createElement("p"), { className: "small" });
problem.setAttribute("role", "alert");
place.append(problem);

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  problem.textContent = "That did not work, or you stopped it. Nothing was changed; try again.";
});

// The script of django-allauth before this one makes it.
const { allauth } = /** @type {any} */ (window);
allauth.webauthn.forms[place.dataset.webauthn]({ ids: JSON.parse(place.dataset.ids) });
