// Two trajectories side by side: which items are the same, which stand for each other, and where they part.

/**
 * @typedef {import("./source.js").Item} Item
 * @typedef {{left: number | null, right: number | null, same: boolean}} Pair
 * @typedef {{pairs: Pair[], action: number | null, item: number | null}} Alignment
 *   `action` is the first pair whose tool calls differ, `item` the first that differs at all
 */

const MOST_CELLS = 4_000_000;

/**
 * What makes two items the same: white space and the order of a call's arguments do not count.
 * @param {Item} item
 */
export function itemKey(item) {
  let text = (item.text ?? "").trim().replace(/\s+/g, " ");
  if (item.kind === "tool_call") {
    try {
      text = JSON.stringify(sorted(JSON.parse(text)));
    } catch {
      // not JSON: compared as it stands
    }
  }
  return JSON.stringify([item.kind, item.role ?? "", item.name ?? "", text]);
}

/** @param {any} value @returns {any} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.keys(value).sort().map((key) => [key, sorted(value[key])]);
}

/**
 * @param {Item[]} left
 * @param {Item[]} right
 * @returns {Alignment}
 */
export function align(left, right) {
  const a = left.map(itemKey), b = right.map(itemKey);
  /** @type {Pair[]} */
  const pairs = [];
  let i = 0, j = 0;
  for (const [x, y] of [...commonItems(a, b), [a.length, b.length]]) {
    pairs.push(...between(left, right, i, x, j, y));
    if (x < a.length && y < b.length) pairs.push({ left: x, right: y, same: true });
    [i, j] = [x + 1, y + 1];
  }
  const isCall = (/** @type {Pair} */ pair) =>
    (pair.left !== null && left[pair.left].kind === "tool_call") ||
    (pair.right !== null && right[pair.right].kind === "tool_call");
  const action = pairs.findIndex((pair) => !pair.same && isCall(pair));
  const item = pairs.findIndex((pair) => !pair.same);
  return { pairs, action: action < 0 ? null : action, item: item < 0 ? null : item };
}

/**
 * The longest common subsequence of two lists of keys, as pairs of positions.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[number, number][]}
 */
function commonItems(a, b) {
  if (a.length * b.length > MOST_CELLS) return commonStart(a, b);
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] =
        a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
    else j++;
  }
  return pairs;
}

/** @param {string[]} a @param {string[]} b @returns {[number, number][]} */
function commonStart(a, b) {
  /** @type {[number, number][]} */
  const pairs = [];
  while (pairs.length < Math.min(a.length, b.length) && a[pairs.length] === b[pairs.length]) {
    pairs.push([pairs.length, pairs.length]);
  }
  return pairs;
}

/**
 * Items between two that are the same: those of one kind and tool stand beside each other.
 * @param {Item[]} left @param {Item[]} right
 * @param {number} i @param {number} x @param {number} j @param {number} y
 * @returns {Pair[]}
 */
function between(left, right, i, x, j, y) {
  /** @type {Pair[]} */
  const pairs = [];
  while (i < x || j < y) {
    if (i < x && j < y && alike(left[i], right[j])) pairs.push({ left: i++, right: j++, same: false });
    else if (j < y && (i >= x || nextAlike(right, j, y, left[i]) < nextAlike(left, i, x, right[j]))) {
      pairs.push({ left: null, right: j++, same: false });
    } else pairs.push({ left: i++, right: null, same: false });
  }
  return pairs;
}

/** @param {Item} a @param {Item} b */
function alike(a, b) {
  return a.kind === b.kind && (a.role ?? "") === (b.role ?? "") && (a.name ?? "") === (b.name ?? "");
}

/** How far the next item like another is. @param {Item[]} items @param {number} from @param {number} to @param {Item} other */
function nextAlike(items, from, to, other) {
  for (let at = from; at < to; at++) if (alike(items[at], other)) return at - from;
  return Infinity;
}

/**
 * Two texts cut where they begin and cease to differ: [same, left's own, right's own, same].
 * @param {string} left
 * @param {string} right
 * @returns {[string, string, string, string]}
 */
export function textDifference(left, right) {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) start++;
  let end = 0;
  while (end < most - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  return [
    left.slice(0, start),
    left.slice(start, left.length - end),
    right.slice(start, right.length - end),
    left.slice(left.length - end),
  ];
}
