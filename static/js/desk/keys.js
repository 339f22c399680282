// The one registry of keys: which key does what, where the focus must be for it, and how it is shown. A key that types a
// character acts on the highlighted row wherever the focus is, but never in a text field, a select, or an open dialog or
// menu. Such keys can be switched off and changed (WCAG 2.1.4), and every one of them has a button.
//
// keymap.json names every action with its default keys; the server puts it into the page with the account's own keys.
// Other modules say only what an action does: define({ id: "keep", run: (event) => … }).

import { charactersOf } from "../shared/keyboard.js";
import { make } from "../shared/make.js";
import { isInView } from "./acted-on.js";

const actions = new Map(); // id -> {id, keys, where, label, group, inFields, repeats, fixed}
const runs = new Map(); // id -> function
let shown = { single: true, hints: true };
/** @type {(press: {chord: string, action: object | null, target: HTMLElement}) => boolean} */
let isGuarded = () => false;

const MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const NO_CHORD = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"]);
const NOT_TYPED_INTO = new Set(["button", "submit", "reset", "checkbox", "radio", "range", "color", "file", "image"]);
const MENUS = "[role=dialog], [role=menu], .desk-fold[open]";
const SPOKEN = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

/** Whether what is typed at `element` becomes text or a choice of its own. */
export function isTextField(element) {
  if (element.isContentEditable || element.matches("textarea, select")) return true;
  return element.matches("input") && !NOT_TYPED_INTO.has(element.type);
}

/**
 * Name the keys of a keydown as keymap.json does: "a", "Shift+M", "Ctrl+Enter"; null for a modifier alone. What was typed
 * counts where it is a key of some action, so that nobody's own key becomes another by its place.
 */
export function chordOf(event) {
  if (!event.key || NO_CHORD.has(event.key) || (event.metaKey && !MAC)) return null;
  const [typed, meant = typed] = charactersOf(event).map((key) => chordWith(event, key));
  return [...actions.values()].some(({ keys }) => keys.includes(typed)) ? typed : meant;
}

function chordWith(event, key) {
  const typed = [...key].length === 1;
  const letter = key.toLowerCase() !== key.toUpperCase();
  const composed = event.getModifierState("AltGraph"); // "[" is AltGr+8 on many keyboards, and Option+5 on a Mac
  const ctrl = !composed && (event.ctrlKey || event.metaKey);
  const alt = !composed && event.altKey && !(MAC && typed && key === event.key);
  const shift = event.shiftKey && (!typed || letter);
  const modifiers = [ctrl && "Ctrl", alt && "Alt", shift && "Shift"].filter(Boolean);
  if (typed && letter) return [...modifiers, modifiers.length ? key.toUpperCase() : key.toLowerCase()].join("+");
  return [...modifiers, key === " " ? "Space" : key].join("+");
}

/** Whether a chord types a character, so that WCAG 2.1.4 speaks of it. */
export function isSingle(chord) {
  return [...chord.replace(/^Shift\+(?=.)/, "")].length === 1;
}

/** The keys of an action that work now: with single keys switched off, those are left out. */
export function keysOf(id) {
  const keys = actions.get(id)?.keys ?? [];
  return shown.single ? keys : keys.filter((chord) => !isSingle(chord));
}

/** A chord as it is printed on a button. */
export function printed(chord) {
  return chord.split("+").map((part) => SPOKEN[part] ?? part).join("+");
}

/** Say what an action of keymap.json does. `run(event)` gets the keydown. An action of another stage is let be. */
export function define({ id, run }) {
  runs.set(id, run);
}

/** Have `take({chord, action, target})` look at each key first; where it returns true, the key is done with. */
export function guard(take) {
  isGuarded = take;
}

/** The ids that were defined and that keymap.json does not know, and those of this stage that do nothing. */
export function gaps() {
  const dead = [...actions.values()].filter((action) => !action.fixed && !runs.has(action.id));
  return { unknown: [...runs.keys()].filter((id) => !actions.has(id)), dead: dead.map((action) => action.id) };
}

// What the focus is in, from the inside out; an open dialog ends the search, because the desk lies behind it.
function scopesOf(element) {
  const scopes = [];
  for (let ancestor = element; ancestor; ancestor = ancestor.parentElement) {
    if (ancestor.matches("dialog[open]")) return scopes;
    if (ancestor.dataset?.keys) scopes.push(...ancestor.dataset.keys.split(" "));
  }
  return [...scopes, "anywhere"];
}

// A dialog or menu has the keys for itself. A click on its text leaves the focus on the body, so that counts as inside.
function isInMenu(element) {
  if (document.querySelector("dialog:modal") || element.closest(MENUS)) return true;
  return element === document.body && document.querySelector(".desk-fold[open]") !== null;
}

// The focus decides first: in a text the arrows move between its sentences.
function meaningsOf(chord, element) {
  const scopes = scopesOf(element);
  return isSingle(chord) && !isInMenu(element) ? [...scopes, "row"] : scopes;
}

// Keys that a focused control needs for itself: Enter presses a button, arrows choose among radios.
function isNative(chord, element) {
  if (chord === "Enter" || chord === "Space") return element.matches("button, a[href], summary, input, select");
  return chord.startsWith("Arrow") && element.matches("input[type=radio], select, [role=menuitem], [role=tab]");
}

function actionFor(chord, element) {
  const inField = isTextField(element);
  if ((!inField && isNative(chord, element)) || (!shown.single && isSingle(chord))) return null;
  const able = [...actions.values()].filter(
    (action) => runs.has(action.id) && action.keys.includes(chord) && (!inField || (action.inFields && !isSingle(chord))),
  );
  for (const scope of meaningsOf(chord, element)) {
    const found = able.find((action) => action.where.includes(scope));
    if (found) return found;
  }
  return null;
}

// Nobody judges what is not on the screen.
function isAboutRow({ where }) {
  return where.includes("row") && !where.includes("passage");
}

function onKeydown(event) {
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  const chord = chordOf(event);
  const action = chord && actionFor(chord, event.target);
  if (chord && isGuarded({ chord, action, target: event.target })) {
    event.preventDefault();
    return;
  }
  if (!action) {
    if (chord === "Ctrl+S") event.preventDefault(); // the browser would offer to save the page as a file
    return;
  }
  event.preventDefault();
  if (isSingle(chord) && isAboutRow(action) && !isInView()) {
    document.dispatchEvent(new Event("desk:row-wanted-in-view"));
    return;
  }
  if (!event.repeat || action.repeats) runs.get(action.id)(event);
}

/** Print the keys into every <kbd data-key> below `root`, and tell them to assistive technology. */
function showHints(root) {
  for (const kbd of root.querySelectorAll("kbd[data-key]")) {
    const keys = keysOf(kbd.dataset.key);
    kbd.textContent = keys.length ? printed(keys[0]) : "";
    kbd.hidden = !keys.length || !shown.hints;
    kbd.toggleAttribute("data-in-fields", Boolean(actions.get(kbd.dataset.key)?.inFields));
    const named = /** @type {HTMLElement | null} */ (kbd.closest("button, a, summary, label"));
    const control = named instanceof HTMLLabelElement ? named.control : named;
    if (!control) continue;
    const all = [...named.querySelectorAll("kbd[data-key]")].flatMap((/** @type {HTMLElement} */ { dataset }) => keysOf(dataset.key));
    if (all.length) control.setAttribute("aria-keyshortcuts", all.map(asAria).join(" "));
    else control.removeAttribute("aria-keyshortcuts");
  }
}

function asAria(chord) {
  return chord.replace("Ctrl+", "Control+");
}

function watch(root) {
  const observer = new MutationObserver((changes) => {
    // A list of rows that is drawn is gone through once, not once for each of its rows.
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes].filter((node) => node instanceof Element));
    for (const place of new Set(added.map((node) => node.parentNode ?? node))) showHints(place);
  });
  observer.observe(root, { childList: true, subtree: true });
}

function fillSheet(sheet, groups) {
  const body = sheet.querySelector("[data-keys-list]");
  for (const group of groups) {
    const listed = [...actions.values()].filter((action) => action.group === group && keysOf(action.id).length);
    if (!listed.length) continue;
    const list = make("dl");
    for (const action of listed) {
      const kbds = keysOf(action.id).flatMap((chord) => [make("kbd", {}, printed(chord)), " "]);
      list.append(make("div", {}, make("dt", {}, action.label), make("dd", {}, ...kbds)));
    }
    body.append(make("section", {}, make("h3", {}, group), list));
  }
  sheet.querySelector("[data-keys-off]").hidden = shown.single;
}

/** Read the page's keymap, print the hints, and listen. */
export function setup() {
  const config = JSON.parse(document.getElementById("desk-keys").textContent);
  shown = { single: config.single, hints: config.hints };
  for (const action of config.actions) actions.set(action.id, action);
  const sheet = /** @type {HTMLDialogElement} */ (document.getElementById("key-sheet"));
  fillSheet(sheet, config.groups);
  define({ id: "keys", run: () => sheet.showModal() });
  for (const button of document.querySelectorAll("[data-act=keys]"))
    button.addEventListener("click", () => sheet.showModal());
  showHints(document.body);
  watch(document.body);
  document.addEventListener("keydown", onKeydown);
  return { define, guard, keysOf, gaps, printed, isTextField };
}
