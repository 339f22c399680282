// Arrows as the reader of a text sees them.

/** Which way an arrow goes: `by`, or in a text from right to left the other way, where it is ← or →. */
export function stepOf({ key, target }, by) {
  const turns = ["ArrowLeft", "ArrowRight"].includes(key) && getComputedStyle(target).direction === "rtl";
  return turns ? -by : by;
}
