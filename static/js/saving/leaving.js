// Nobody leaves a desk by mistake with work unsent: a link waits until everything is saved, and closing the page asks.

/** Whether a click on a link replaces this page. */
function leaves(event, link) {
  const elsewhere = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (event.defaultPrevented || elsewhere || !link.href || link.hasAttribute("download")) return false;
  if (link.target && link.target !== "_self") return false;
  const to = new URL(link.href);
  const stays = to.hash && to.pathname === location.pathname && to.search === location.search;
  return to.protocol.startsWith("http") && !stays;
}

/** Go to `url` when everything has its receipt. */
export async function leave(save, url) {
  await save.drained();
  location.assign(url);
}

/** Let links and forms that leave the page wait for `save`; `waits(go)` is called when they have to. */
export function guard(save, waits) {
  const unsent = () => save.state().unsent > 0;

  document.addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (event.target.closest?.("a[href]"));
    if (!link || !leaves(event, link)) return;
    save.dispatchEvent(new CustomEvent("settle"));
    if (!unsent()) return;
    event.preventDefault();
    waits(() => location.assign(link.href));
    leave(save, link.href);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method === "dialog" || form.closest("dialog")) return;
    save.dispatchEvent(new CustomEvent("settle"));
    if (!unsent()) return;
    event.preventDefault();
    waits(() => form.submit());
    save.drained().then(() => form.submit());
  });

  // Asked only when it matters: everything is kept on this device, but another device would not know of it.
  const ask = (event) => event.preventDefault();
  save.addEventListener("state", ({ detail }) => {
    const matters = detail.unsent > 0 && !detail.connected;
    (matters ? addEventListener : removeEventListener)("beforeunload", ask);
  });
}
