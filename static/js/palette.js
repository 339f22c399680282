// The palette: Ctrl+K finds a page, a thing or an act by the beginnings of its words. Before anything is typed it shows
// the five places that were opened last.

import { charactersOf } from "./shared/keyboard.js";
import { make } from "./shared/make.js";

const RECENT = "assay:recent";
const MOST_RECENT = 5;

const palette = /** @type {HTMLDialogElement} */ (document.getElementById("palette"));
const field = /** @type {HTMLInputElement} */ (palette.querySelector("input"));
const list = /** @type {HTMLElement} */ (palette.querySelector("[role=listbox]"));
const count = /** @type {HTMLElement} */ (palette.querySelector("[data-count]"));
/** @type {HTMLButtonElement | null} */
const opener = document.querySelector("[data-act=find]"); // a desk has no room for it
const source = palette.dataset.source ?? "";
let latest = 0;
/** @type {Element | null} */
let before = null;

/** @returns {{text: string, address: string, note: string}[]} */
function recent() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(RECENT + source) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

function remember(hit) {
  const others = recent().filter(({ address }) => address !== hit.address);
  sessionStorage.setItem(RECENT + source, JSON.stringify([hit, ...others].slice(0, MOST_RECENT)));
}

// The letters that were typed, at the beginnings of words, are marked.
function marked(text, words) {
  const span = make("span");
  const beginnings = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const parts = beginnings ? text.split(new RegExp(`(?<![\\p{L}\\p{N}_])(${beginnings})`, "iu")) : [text];
  parts.forEach((part, place) => span.append(place % 2 ? make("mark", {}, part) : part));
  return span;
}

function optionOf(hit, number, words) {
  const aria = { role: "option", ariaSelected: "false", tabIndex: -1 };
  const option = make("a", { id: `hit-${number}`, href: hit.address, dir: "auto", ...aria }, marked(hit.text, words));
  if (hit.note) option.append(make("small", {}, marked(hit.note, words)));
  option.addEventListener("click", () => remember(hit));
  return option;
}

function show(groups, words) {
  let number = 0;
  const sections = groups.map(({ caption, hits }) => {
    const heading = make("p", { ariaHidden: "true" }, caption);
    const links = hits.map((hit) => optionOf(hit, number++, words));
    return make("div", { role: "group", ariaLabel: caption }, heading, ...links);
  });
  list.replaceChildren(...sections);
  count.textContent = number === 1 ? "1 hit" : `${number || "No"} hits`;
  if (!number) list.append(make("p", {}, "Nothing begins with these words."));
  choose(0);
}

const options = () => [...list.querySelectorAll("[role=option]")];
const chosen = () => options().findIndex((option) => option.getAttribute("aria-selected") === "true");

function choose(place) {
  const all = options();
  const wanted = all.length ? (place + all.length) % all.length : -1;
  all.forEach((option, at) => option.setAttribute("aria-selected", String(at === wanted)));
  if (wanted < 0) return field.removeAttribute("aria-activedescendant");
  field.setAttribute("aria-activedescendant", all[wanted].id);
  all[wanted].scrollIntoView({ block: "nearest" });
}

async function search() {
  const ticket = ++latest;
  const typed = field.value.trim();
  const answer = await fetch(`${source}?words=${encodeURIComponent(typed)}`).catch(() => null);
  const found = answer?.ok ? (await answer.json()).groups : [];
  // A slow answer to what was typed before must not cover the answer to what stands there now.
  if (ticket !== latest) return;
  const kept = typed ? [] : recent();
  show(kept.length ? [{ caption: "Opened last", hits: kept }, ...found] : found, typed.split(/\s+/).filter(Boolean));
}

function open() {
  if (palette.open) return;
  before = document.activeElement;
  field.value = "";
  list.replaceChildren();
  palette.showModal();
  field.focus();
  search();
}

palette.addEventListener("close", () => {
  latest += 1;
  if (before instanceof HTMLElement && before.isConnected) before.focus();
});
palette.addEventListener("click", ({ target }) => {
  if (target === palette || /** @type {Element} */ (target).closest("[data-act=close]")) palette.close();
});
field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(chosen() + step);
  // In a field for searches Escape would only clear what is typed.
  else if (event.key === "Escape") palette.close();
  else if (event.key === "Enter") {
    const option = /** @type {HTMLAnchorElement | undefined} */ (options()[chosen()]);
    if (event.ctrlKey || event.metaKey) {
      if (option) window.open(option.href, "_blank", "noopener");
    } else option?.click();
  } else return;
  event.preventDefault();
});

document.addEventListener(
  "keydown",
  (event) => {
    if (!event.key) return; // filled in by the browser
    const typed = charactersOf(event);
    const isCtrl = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const wanted = isCtrl && typed.some((character) => character.toLowerCase() === "k");
    const isSlash = typed.includes("/") && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
    // Where a page has a search of its own, "/" is that search's; a desk has its own keys.
    if (!wanted && !(isSlash && !document.querySelector("main [type=search], [data-keys]"))) return;
    if (document.querySelector("dialog[open]:not(#palette)")) return;
    event.preventDefault();
    event.stopPropagation();
    open();
  },
  { capture: true },
);

function isTyping(target) {
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable]");
}

if (opener) {
  opener.disabled = false;
  opener.addEventListener("click", open);
}
