// Pictures that name what is pointed at. Without this script they are images; their tables say the same either way.
//
// The image's own SVG is put in its place. Each mark that says something gets a small note while the pointer is on it;
// where there are not too many, they are one stop of the Tab key, and the arrow keys go from mark to mark: the image says
// so in its `data-by-keys`.

import { make } from "./shared/make.js";

const MOST_STOPS = 300;
const MARKS = ".role-mark > [aria-label]";

/** Return the SVG of an image in the theme that it is shown in, or null where it cannot be had. */
async function fetched(image) {
  const reply = await fetch(image.currentSrc).catch(() => null);
  if (!reply?.ok) return null;
  const svg = new DOMParser().parseFromString(await reply.text(), "image/svg+xml").documentElement;
  return svg.localName === "svg" ? document.importNode(svg, true) : null;
}

/** Take what the drawing says of its parts for itself, and return the marks. */
function marksOf(svg) {
  const marks = [...svg.querySelectorAll(MARKS)];
  const captions = new Map(marks.map((mark) => [mark, mark.getAttribute("aria-label")]));
  for (const part of svg.querySelectorAll("[role], [aria-label], [aria-hidden], [aria-roledescription]")) {
    for (const name of ["role", "aria-label", "aria-hidden", "aria-roledescription"]) part.removeAttribute(name);
  }
  for (const [mark, text] of captions) mark.dataset.caption = text;
  return marks;
}

/** Return the marks that keys reach, those in front first: whole layers, as long as they are not too many. */
function reachable(marks) {
  const layers = [...new Set(marks.map((mark) => mark.parentElement))].reverse();
  const found = [];
  for (const layer of layers) {
    const own = marks.filter((mark) => mark.parentElement === layer);
    if (found.length + own.length > MOST_STOPS) break;
    found.push(...own);
  }
  return found;
}

/** Make the marks one stop of the Tab key. */
function makeStops(marks) {
  marks.forEach((mark, place) => {
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", mark.dataset.caption);
    mark.setAttribute("tabindex", place ? "-1" : "0");
  });
}

/** Where the arrow keys lead from a mark; undefined for other keys. */
function neighbour(marks, mark, key) {
  const place = marks.indexOf(mark);
  const to = { ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1 };
  const places = { ...to, Home: 0, End: marks.length - 1 };
  return key in places ? marks[Math.max(0, Math.min(marks.length - 1, places[key]))] : undefined;
}

/** Show a mark's note beside it, inside the picture, wherever that is scrolled to. */
function show(note, frame, mark) {
  note.textContent = mark.dataset.caption;
  note.hidden = false;
  const [box, at] = [frame.getBoundingClientRect(), mark.getBoundingClientRect()];
  const left = frame.scrollLeft + Math.min(at.left - box.left, box.width - note.offsetWidth);
  const above = at.top - box.top - note.offsetHeight - 6;
  note.style.insetInlineStart = `${Math.max(0, left)}px`;
  note.style.insetBlockStart = `${above >= 0 ? above : at.bottom - box.top + 6}px`;
}

/** The name of a mark, and what it is a part of where it is one: "auto, 13" is of "auto". */
function namesOf(mark) {
  const name = mark.dataset.caption.slice(0, mark.dataset.caption.lastIndexOf(": "));
  return name.includes(", ") ? [name, name.slice(0, name.lastIndexOf(", "))] : [name];
}

/** Address of what a mark is named after: what its chart says, a run, a topic or an answer; undefined for others. */
function placeOf(mark) {
  const places = JSON.parse(document.getElementById("chart-places")?.textContent ?? '{"runs":{},"topics":{}}');
  const links = JSON.parse(mark.closest("figure").querySelector(":scope > script")?.textContent ?? "{}");
  const [name, whole] = namesOf(mark);
  if (links[name] ?? links[whole] ?? places.runs[name]) return links[name] ?? links[whole] ?? places.runs[name];
  if (places.topics[name]) return `${places.topic}${places.topics[name]}/`;
  const [run, topic] = name.split(", topic ");
  return places.runs[run] && places.topics[topic] && `${places.runs[run]}?topic=${places.topics[topic]}#h-answer`;
}

/** The row of the table beside a picture that has a mark's figures, or the table where no row is named so. */
function rowOf(mark) {
  const section = mark.closest(".picture-and-matrix, section, main");
  const names = namesOf(mark).flatMap((name) => [name, name.split(" ")[0], name.split(" by ")[0]]);
  const rows = [...section.querySelectorAll("tbody tr")];
  const texts = (row) => [...row.querySelectorAll("th, th .code-word")].map((part) => part.textContent.trim());
  const named = (name) => rows.find((row) => texts(row).includes(name));
  return names.map(named).find(Boolean) ?? section.querySelector(".scroll");
}

/** Answer to pointer and keys in a frame with a drawing; `marks` are those that keys reach. */
function listen(frame, note, marks) {
  const markAt = (event) => event.target.closest?.("[data-caption]");
  const hide = () => (note.hidden = true);
  frame.addEventListener("pointerover", (event) => {
    if (markAt(event)) show(note, frame, markAt(event));
  });
  frame.addEventListener("pointerleave", hide);
  frame.addEventListener("focusin", (event) => {
    if (markAt(event)) show(note, frame, markAt(event));
  });
  frame.addEventListener("focusout", hide);
  const open = (mark) => {
    if (!mark) return;
    const row = /** @type {HTMLElement | null} */ (rowOf(mark));
    const link = /** @type {HTMLAnchorElement | null} */ (row?.querySelector(":scope > th a"));
    const place = placeOf(mark) ?? link?.href;
    if (place) return location.assign(place);
    if (row && row.tabIndex < 0) row.tabIndex = -1;
    row?.focus();
  };
  frame.addEventListener("click", (event) => open(markAt(event)));
  frame.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    if (event.key === "Enter") open(markAt(event));
    const next = markAt(event) && neighbour(marks, markAt(event), event.key);
    if (!next) return;
    event.preventDefault();
    markAt(event).setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

/** Return the light image for paper, which is loaded once somebody prints. */
function onPaper(image) {
  const light = new Image();
  light.className = "plot on-paper";
  light.loading = "lazy";
  light.alt = image.alt;
  light.src = image.src;
  return light;
}

/** Put the drawing of an image in its place. */
async function draw(image) {
  const svg = await fetched(image);
  if (!svg) return;
  const frame = make("div", { className: "drawn" });
  const note = make("p", { className: "mark-note", hidden: true, ariaHidden: "true" });
  const stops = reachable(marksOf(svg));
  makeStops(stops);
  if (!stops.length) frame.tabIndex = 0; // Keys scroll it where it is wider than a phone.
  svg.classList.add("plot");
  svg.style.setProperty("--drawn-at", `${svg.getAttribute("width")}px`);
  svg.setAttribute("role", stops.length ? "group" : "img");
  svg.setAttribute("aria-label", stops.length ? `${image.alt} ${image.dataset.byKeys}` : image.alt);
  frame.append(svg, note);
  if (image.currentSrc !== image.src) frame.append(onPaper(image));
  listen(frame, note, stops);
  const picture = image.closest("picture");
  picture.parentElement.querySelector(".drawn")?.remove();
  picture.after(frame);
  picture.hidden = true;
}

function drawAll() {
  const images = /** @type {NodeListOf<HTMLImageElement>} */ (
    document.querySelectorAll("figure picture img.plot:not([data-drawn])")
  );
  for (const image of images) {
    image.dataset.drawn = "";
    // It loads again when the theme changes, and is drawn again then.
    image.addEventListener("load", () => draw(image));
    if (image.complete && image.naturalWidth) draw(image);
  }
}

drawAll();
document.addEventListener("htmx:afterSwap", drawAll);
