// Elements that pages look up by a selector are HTML elements: pages hold no other that a script touches but pictures.
// A tag's own name keeps its own type, as in `querySelector("input")`.

interface ParentNode {
  querySelector<K extends keyof HTMLElementTagNameMap>(selectors: K): HTMLElementTagNameMap[K] | null;
  querySelector<E extends Element = HTMLElement>(selectors: string): E | null;
  querySelectorAll<K extends keyof HTMLElementTagNameMap>(selectors: K): NodeListOf<HTMLElementTagNameMap[K]>;
  querySelectorAll<E extends Element = HTMLElement>(selectors: string): NodeListOf<E>;
}

interface Element {
  closest<K extends keyof HTMLElementTagNameMap>(selector: K): HTMLElementTagNameMap[K] | null;
  closest<E extends Element = HTMLElement>(selectors: string): E | null;
}

// What our own modules dispatch are custom events.
interface EventTarget {
  addEventListener(type: string, callback: (event: CustomEvent) => void, options?: AddEventListenerOptions): void;
}

// Handlers of a person's acts are on elements or on the document, where the target is an HTML element.
interface UIEvent {
  readonly target: HTMLElement;
}

interface SubmitEvent {
  readonly target: HTMLFormElement;
}

// What parts of a desk tell each other through the document.
interface DocumentEventMap {
  "desk:coverage": CustomEvent;
  "desk:link-wanted": CustomEvent;
  "desk:new-wanted": CustomEvent;
  "desk:pane-wanted": CustomEvent<{ pane: string }>;
  "desk:readonly": CustomEvent<{ readonly: boolean }>;
  "desk:row-wanted": CustomEvent<{ key: string }>;
  "desk:words-wanted": CustomEvent;
}
