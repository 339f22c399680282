// Signing out takes an account's unsent work off this device, because the next person may sit at it. Before that it says
// so, and offers the work as a file. For every page with a form that signs out.

import { accountsOutbox } from "./outbox.js";

const SESSION = "/desk/session/";

async function kept() {
  const response = await fetch(SESSION, { headers: { Accept: "application/json" }, cache: "no-store" });
  const { user } = await response.json();
  return user ? accountsOutbox(user) : null;
}

function button(text, act, autofocus = false) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, autofocus });
  made.addEventListener("click", act);
  return made;
}

function download(copy) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(copy, null, 2)], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: url, download: "unsent-changes.json" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Ask whether to go on; resolves to the answer. Escape is no. */
function ask(outbox) {
  const dialog = document.createElement("dialog");
  dialog.className = "save-dialog";
  dialog.setAttribute("aria-labelledby", "signing-out-title");
  const title = Object.assign(document.createElement("h2"), { id: "signing-out-title" });
  title.textContent = outbox.unsent === 1 ? "1 change is not on the server" : `${outbox.unsent} changes are not on the server`;
  const text = document.createElement("p");
  text.textContent = "They are kept on this device only. Open the task again to save them. Signing out deletes them here.";
  const acts = Object.assign(document.createElement("div"), { className: "form-actions" });
  return new Promise((resolve) => {
    acts.append(
      button("Stay signed in", () => dialog.close("stay"), true),
      button("Download a copy", () => download(outbox.copy)),
      button("Sign out and delete them", () => dialog.close("out")),
    );
    dialog.append(title, text, acts);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "out");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (event.defaultPrevented || !form.action.endsWith("/accounts/logout/")) return;
  event.preventDefault();
  const outbox = await kept().catch(() => null);
  if (outbox?.unsent && !(await ask(outbox))) return;
  await outbox?.clear();
  form.submit();
});
