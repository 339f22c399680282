// The two small boxes of a row: why it cannot be judged, and which sentence of the answer it is in.

import { copyOf } from "../shared/template.js";
import { trimmed, withDigits } from "../shared/text.js";

let made = 0;

/**
 * Open a box inside `host`. `take(text)` returns what is wrong, or "" and closes the box; `leave(hadFocus)` is called
 * when it closes. Returns {focus, close}.
 * @param {HTMLElement} host
 * @param {string} template
 * @param {{text?: string, take: (text: string) => string, leave: (hadFocus: boolean) => void,
 *   typed?: (text: string) => void}} options
 */
export function openBox(host, template, { text = "", take, leave, typed = () => {} }) {
  const box = copyOf(template);
  const input = box.querySelector("input");
  const problem = box.querySelector(".problem");
  problem.id = `box-problem-${(made += 1)}`;
  input.setAttribute("aria-describedby", problem.id);
  input.value = text;
  const close = () => {
    const hadFocus = box.contains(document.activeElement);
    leave(hadFocus);
    box.remove();
  };
  const accept = (value) => {
    const wrong = take(value);
    problem.textContent = wrong;
    problem.hidden = !wrong;
    input.setAttribute("aria-invalid", String(Boolean(wrong)));
    if (wrong) input.focus();
    else close();
  };
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    accept(trimmed(input.value));
  });
  input.addEventListener("input", () => typed(input.value));
  input.addEventListener("keydown", (event) => event.isComposing && event.key === "Enter" && event.stopPropagation());
  box.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-box]");
    if (button?.dataset.box === "leave") close();
    else if (button) accept(button.value);
  });
  box.addEventListener("box:leave", close);
  host.append(box);
  input.focus();
  input.select();
  return { focus: () => input.focus(), close, element: box };
}

/** Options of the box that asks why a row cannot be judged. What is typed is kept until `give(reason)` has it. */
export function reasonFor({ save, store }, key, give) {
  const slot = `reason ${key}`;
  return {
    text: save.keptTexts()[slot] ?? store.row(key)?.reason ?? "",
    typed: (text) => save.keepText(slot, text || null),
    take: (text) => {
      if (!text) return "Say why in a few words.";
      save.keepText(slot, null);
      queueMicrotask(() => give(text)); // once the box is gone, so that the focus goes on from the row
      return "";
    },
  };
}

/** Leave the box that something is in. */
export function leaveBox(element) {
  element.closest("form")?.dispatchEvent(new CustomEvent("box:leave"));
}

/** The sentence that was typed: "4", "S4" or "٤"; null for none ("" or "0"), undefined where it is no number. */
export function sentenceIn(typed) {
  const text = withDigits(typed);
  if (/^s?\s*0*$/i.test(text)) return null;
  const found = /^s?\s*(\d{1,5})$/i.exec(text);
  return found ? Number(found[1]) - 1 : undefined;
}
