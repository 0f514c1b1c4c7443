// Where the tiles of a call are placed. Sizes are in CSS pixels.

export const gap = 10;
const shape = 4 / 3;
const smallestSide = 96;

/**
 * The width and the number of columns that make equal tiles largest: `{ side, columns }`. Each has a picture of the given ratio
 * and a caption of that height below it.
 */
export function fit(count, width, height, caption, ratio = shape) {
  let best = { side: 0, columns: 1 };
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const side = Math.min(
      (width - gap * (columns - 1)) / columns, ((height - gap * (rows - 1)) / rows - caption) * ratio);
    if (side > best.side) best = { side, columns };
  }
  return best;
}

/**
 * Places large tiles of the given ratios of width to height, and small ones in a strip at the right of them, or below
 * them if the box is higher than wide. Returns `{ large, small }`, each a list of `{ left, top, width, height }` with the caption.
 */
export function stage(ratios, smallCount, width, height, caption) {
  const isWide = width > height;
  const limit = isWide ? clamp(width * 0.2, 120, 260) : clamp(height * 0.22, 90, 180);
  const strip = isWide ? { width: limit, height } : { width, height: limit };
  let { side, columns } = fit(smallCount, strip.width, strip.height, caption);
  if (side < smallestSide) {
    // What does not fit into a strip of 40 % of the width, or of the whole width below, makes the box scroll.
    side = smallestSide;
    const rows = isWide ? Math.max(Math.floor((height + gap) / (side / shape + caption + gap)), 1) : 1;
    const limitedColumns = Math.floor(((isWide ? width * 0.4 : width) + gap) / (side + gap));
    columns = clamp(Math.ceil(smallCount / rows), 1, Math.max(limitedColumns, 1));
  }
  const small = grid(smallCount, columns, side, caption);
  const box = isWide
    ? { width: Math.max(width - small.width - gap, 160), height }
    : { width, height: Math.max(height - Math.min(small.height, limit) - gap, 90) };
  const large = cells(ratios, box, caption);
  // Both are next to each other, together in the middle.
  if (isWide) {
    const left = Math.max((width - large.width - gap - small.width) / 2, 0);
    move(large.rects, left, (height - large.height) / 2);
    move(small.rects, left + large.width + gap, Math.max((height - small.height) / 2, 0));
  } else {
    const top = Math.max((height - large.height - gap - small.height) / 2, 0);
    move(large.rects, (width - large.width) / 2, top);
    move(small.rects, Math.max((width - small.width) / 2, 0), top + large.height + gap);
  }
  return { large: large.rects, small: small.rects };
}

/** Equal tiles in rows, with the size of all together. */
function grid(count, columns, side, caption) {
  const height = side / shape + caption;
  const rects = Array.from({ length: count }, (_, index) => ({
    left: (index % columns) * (side + gap), top: Math.floor(index / columns) * (height + gap), width: side, height,
  }));
  return { rects, width: columns * (side + gap) - gap, height: Math.ceil(count / columns) * (height + gap) - gap };
}

/** Tiles of different ratios, as large as a box allows, each in the middle of its cell; with the size of all together. */
function cells(ratios, box, caption) {
  const { columns } = fit(ratios.length, box.width, box.height, caption, 16 / 9);
  const rows = Math.ceil(ratios.length / columns);
  const sizes = ratios.map((ratio) => {
    const width = Math.min((box.width + gap) / columns - gap, ((box.height + gap) / rows - gap - caption) * ratio);
    return { width, height: width / ratio + caption };
  });
  const width = Math.max(...sizes.map((size) => size.width));
  const height = Math.max(...sizes.map((size) => size.height));
  const rects = sizes.map((size, index) => ({
    left: (index % columns) * (width + gap) + (width - size.width) / 2,
    top: Math.floor(index / columns) * (height + gap) + (height - size.height) / 2,
    ...size,
  }));
  return { rects, width: columns * (width + gap) - gap, height: rows * (height + gap) - gap };
}

function move(rects, left, top) {
  for (const rect of rects) {
    rect.left += left;
    rect.top += top;
  }
}

function clamp(value, minimum, maximum) { return Math.min(Math.max(value, minimum), maximum); }
