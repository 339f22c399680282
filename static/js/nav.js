// Where the ways through a campaign scroll sideways, the one that one is on, or that has the focus, comes into sight.

const here = document.querySelector(".shell nav [aria-current]");
const ways = here?.closest("nav");
if (ways) {
  const { left, width } = here.getBoundingClientRect();
  const frame = ways.getBoundingClientRect();
  ways.scrollLeft += left + width / 2 - (frame.left + frame.width / 2);
  // A link that is cut off at the edge gets the focus where it is, unless it is told to come.
  ways.addEventListener("focusin", ({ target }) => target.scrollIntoView({ block: "nearest", inline: "nearest" }));
}
