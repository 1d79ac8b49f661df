// Two rollouts beside each other, aligned, with the place where they diverge marked.

import { align, textDifference } from "./align.js";
import { el, plural, words } from "./dom.js";
import { itemNode, prettyJson } from "./trajectory.js";

/**
 * @typedef {import("./source.js").Item} Item
 * @typedef {import("./source.js").Rollout} Rollout
 * @typedef {{name: string, title: Node, rollout: Rollout | null, items: Item[], link: (item: number) => string | undefined}} Side
 */

const CLIP = 1500;
const MOST_GAPS = 8;

/**
 * @param {Side} left
 * @param {Side} right
 */
export function pairNode(left, right) {
  const { pairs, action, item } = align(left.items, right.items);
  const fork = action ?? item;
  const same = pairs.filter((pair) => pair.same).length;
  let said = `All ${plural(pairs.length, "item")} are the same.`;
  if (action !== null) said = "The marked line is the first tool call that differs.";
  else if (item !== null) said = "Every tool call is the same; the marked line is the first item that differs.";
  /** @type {Node[]} */
  const rows = [];
  /** @type {typeof pairs} */
  let alike = [];
  const flush = () => {
    if (alike.length) rows.push(sameRows(alike, left, right));
    alike = [];
  };
  pairs.forEach((pair, index) => {
    if (pair.same) return alike.push(pair);
    flush();
    if (index === fork) rows.push(el("p", { class: "fork", id: "fork", tabindex: -1 }, action === null ? "They diverge here" : "The actions diverge here"));
    rows.push(pairRow(pair, left, right));
  });
  flush();
  return el(
    "section",
    { class: "pair" },
    el("p", { class: "lead" }, `${plural(same, "item")} the same, ${plural(pairs.length - same, "line")} different. ${said} `,
      fork === null ? null : el("button", { type: "button", class: "quiet", onclick: toFork }, "Go there ↓")),
    el("div", { class: "pair-row heads" }, el("div", null, left.title), el("div", null, right.title)),
    [left, right].some((side) => side.rollout?.gaps?.length) ? el("div", { class: "pair-row" }, strayed(left), strayed(right)) : null,
    rows,
  );
}

/** What a side did otherwise than its task expects. @param {Side} side */
function strayed(side) {
  const gaps = side.rollout?.gaps ?? [];
  const said = gaps.slice(0, MOST_GAPS).map((gap) => el("li", null, words(gap.what)));
  if (gaps.length > MOST_GAPS) said.push(el("li", { class: "soft" }, `… and ${gaps.length - MOST_GAPS} more`));
  return el("div", { "data-side": side.name, class: "strayed" }, el("p", { class: "head" }, "Against what is expected"),
    said.length ? el("ul", null, said) : el("p", { class: "soft" }, "no difference found"));
}

function toFork() {
  const fork = document.getElementById("fork");
  fork?.scrollIntoView();
  fork?.focus({ preventScroll: true });
}

/** @param {import("./align.js").Pair[]} pairs @param {Side} left @param {Side} right */
function sameRows(pairs, left, right) {
  const rows = () => pairs.map((pair) => pairRow(pair, left, right));
  const details = el("details", { class: "same" }, el("summary", null, `${plural(pairs.length, "item")} the same`));
  details.addEventListener("toggle", () => details.childElementCount === 1 && details.append(...rows()), { once: true });
  return details;
}

/** @param {import("./align.js").Pair} pair @param {Side} left @param {Side} right */
function pairRow(pair, left, right) {
  const a = pair.left === null ? null : left.items[pair.left];
  const b = pair.right === null ? null : right.items[pair.right];
  const bodies = a && b && !pair.same ? differing(shown(a), shown(b)) : [undefined, undefined];
  return el(
    "div",
    { class: "pair-row" },
    side(a, pair.left, left, bodies[0]),
    side(b, pair.right, right, bodies[1]),
  );
}

/** @param {Item} item */
function shown(item) {
  const text = item.thought ? `${item.thought}\n\n${item.text ?? ""}` : item.text ?? "";
  return item.kind === "tool_call" ? prettyJson(text) : text;
}

/**
 * @param {Item | null} item @param {number | null} position @param {Side} of @param {Node[] | undefined} body
 */
function side(item, position, of, body) {
  if (item === null || position === null) return el("div", { class: "gap", "data-side": of.name }, el("span", { class: "soft" }, "nothing here"));
  return el("div", { "data-side": of.name }, itemNode(item, position, { query: "", href: of.link(position), body, open: true }));
}

/**
 * Both texts, with what only one has marked; long stretches that agree are cut.
 * @param {string} left @param {string} right
 * @returns {[Node[], Node[]]}
 */
function differing(left, right) {
  const [before, a, b, after] = textDifference(left, right);
  const head = before.length > 200 ? `…${before.slice(-160)}` : before;
  const tail = after.length > 200 ? `${after.slice(0, 160)}…` : after;
  const one = (/** @type {string} */ own) => {
    const cut = own.length > CLIP ? `${own.slice(0, CLIP)}… (${plural(own.length - CLIP, "character")} more)` : own;
    return [el("pre", null, head, cut ? el("mark", null, cut) : null, tail)];
  };
  return [one(a), one(b)];
}
