// Tells allauth's script which fields of the page it works on. `data-webauthn` names its function, `data-ids` the fields.

const place = document.querySelector("[data-webauthn]");
window.allauth.webauthn.forms[place.dataset.webauthn]({ ids: JSON.parse(place.dataset.ids) });
