// The largest block of the window without text, field, button or picture: its share in percent, and where it is.

() => {
  const SIZE = 10; // pixels of a cell
  const columns = Math.ceil(innerWidth / SIZE);
  const rows = Math.ceil(innerHeight / SIZE);
  const filled = Array.from({ length: rows }, () => new Uint8Array(columns));

  const fill = ({ left, right, top, bottom }) => {
    for (let row = Math.max(0, Math.floor(top / SIZE)); row < Math.min(rows, Math.ceil(bottom / SIZE)); row += 1) {
      filled[row].fill(1, Math.max(0, Math.floor(left / SIZE)), Math.max(0, Math.ceil(right / SIZE)));
    }
  };

  const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(".visually-hidden");
  const range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.data.trim() || !seen(text.parentElement)) continue;
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) fill(box);
  }
  for (const e of document.querySelectorAll("input, select, textarea, button, img, svg, meter, progress")) {
    if (seen(e)) fill(e.getBoundingClientRect());
  }

  let largest = { cells: 0, at: "" };
  const heights = new Int32Array(columns); // of the empty column that ends in this row
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) heights[column] = filled[row][column] ? 0 : heights[column] + 1;
    for (let start = 0; start < columns; start += 1) {
      let height = heights[start];
      for (let end = start; end < columns && height > 0; end += 1) {
        height = Math.min(height, heights[end]);
        const cells = height * (end - start + 1);
        if (cells > largest.cells) {
          const [x, y] = [start, row + 1 - height].map((cell) => cell * SIZE);
          largest = { cells, at: `${x},${y} to ${(end + 1) * SIZE},${(row + 1) * SIZE}` };
        }
      }
    }
  }
  return { percent: (100 * largest.cells) / (columns * rows), at: largest.at };
}
