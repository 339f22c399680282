// Signing out takes an account's unsent work off this device, because the next person may sit at it. Before that it says
// so, and offers the work as a file. For every page with a form that signs out.

import { download } from "../shared/download.js";
import { copyOf } from "../shared/template.js";
import { accountsOutbox } from "./outbox.js";

const SESSION = "/desk/session/";

async function kept() {
  const response = await fetch(SESSION, { headers: { Accept: "application/json" }, cache: "no-store" });
  const { user } = await response.json();
  return user ? accountsOutbox(user) : null;
}

/** Ask whether to go on, in the words of the page's template; resolves to the answer. Escape is no. */
function ask(outbox) {
  const dialog = copyOf("signing-out");
  const title = dialog.querySelector("h2");
  title.textContent = outbox.unsent === 1 ? title.dataset.one : title.dataset.many.replace("{number}", outbox.unsent);
  const on = (act, does) => dialog.querySelector(`[data-act="${act}"]`).addEventListener("click", does);
  return new Promise((resolve) => {
    on("stay", () => dialog.close("stay"));
    on("copy", () => download(outbox.copy, "unsent-changes.json"));
    on("out", () => dialog.close("out"));
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
