// One rollout: how it ended, what was expected of it, and its items in order.

import { causeTitle } from "./data.js";
import { el, marked, plural, words } from "./dom.js";
import { formatRoute } from "./route.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./source.js").Rollout} Rollout
 * @typedef {import("./source.js").Item} Item
 * @typedef {import("./route.js").Route} Route
 */

const LONG = 1600;
const KINDS = /** @type {Record<string, string>} */ ({
  message: "message",
  reasoning: "reasoning",
  tool_call: "call",
  tool_result: "result",
  environment: "environment",
});
/**
 * Badges and facts of a rollout.
 * @param {Run} run
 * @param {number} row
 * @param {Rollout | null} rollout
 */
export function rolloutFacts(run, row, rollout) {
  const columns = run.data.rollouts;
  const usage = rollout?.usage ?? {};
  const facts = [
    columns.reward[row] === null ? null : `reward ${round(columns.reward[row])}`,
    columns.calls[row] === null ? null : plural(columns.calls[row] ?? 0, "call"),
    columns.tokens[row] === null ? null : plural(columns.tokens[row] ?? 0, "token"),
    columns.seconds[row] === null ? null : duration(columns.seconds[row] ?? 0),
    usage.cost === undefined ? null : `$${usage.cost.toPrecision(3)}`,
    rollout?.model ?? null,
    rollout?.agent ?? null,
    rollout?.source ?? null,
  ].filter(Boolean);
  const ending = run.data.endings[columns.ending[row]];
  return el(
    "p",
    { class: "facts" },
    el("span", { class: `badge ${run.verdict(row)}` }, run.verdictWords(row)),
    ending === "completed" ? null : el("span", { class: "badge ended" }, ending.replace("_", " ")),
    facts.join(" · "),
  );
}

/** Seconds in the unit that suits them. @param {number} seconds */
function duration(seconds) {
  for (const [size, unit] of /** @type {[number, string][]} */ ([[3600, "h"], [60, "min"]])) if (seconds >= size) return `${(seconds / size).toFixed(1)} ${unit}`;
  return `${seconds.toFixed(1)} s`;
}

/** @param {number | null} value */
function round(value) {
  return value === null ? "n/a" : String(Math.round(value * 1000) / 1000);
}

/**
 * The cause of a rollout's task.
 * @param {Run} run
 * @param {number} row
 * @param {Route} route
 */
export function causeNote(run, row, route) {
  const task = run.task(row);
  if (!task.cause) return null;
  return el(
    "div",
    { class: `cause${task.cause.endsWith("?") ? " undecided" : ""}` },
    el("p", null, el("span", { class: "tag" }, task.cause), " ", el("strong", null, causeTitle(task.cause, run.data.causes)), task.cause === "?" ? null : ` · ${task.confidence} confidence · ${task.author}`),
    el("p", null, words(task.reason ?? "")),
    task.candidates?.length
      ? el("p", { class: "soft" }, "It may be ", task.candidates.map(([label, share]) => `${causeTitle(label, run.data.causes)} (${Math.round(100 * share)} %)`).join(", "), ".")
      : null,
    (task.steps ?? []).map(([citation, why]) => el("p", { class: "proof" }, "Went wrong at ", citationLink(run, citation, route), ": ", words(why))),
    (task.evidence ?? []).filter((proof) => proof.quote).map((proof) =>
      el("p", { class: "proof" }, citationLink(run, proof.citation, route), " “", proof.quote, "”"),
    ),
    el("p", { class: "proof" }, (task.evidence ?? []).filter((proof) => !proof.quote).map((proof) => [citationLink(run, proof.citation, route), "  "])),
  );
}

/**
 * A citation as a link to its place in this page.
 * @param {Run} run
 * @param {string} citation
 * @param {Route} route
 */
export function citationLink(run, citation, route) {
  const match = /^(.*):(\d+)(?:#(\d+))?$/s.exec(citation);
  if (!match) return citation;
  const item = match[3] === undefined ? undefined : Number(match[3]);
  const { vs: _, ...params } = route.params;
  const href = formatRoute({ view: "rollouts", task: match[1], repeat: Number(match[2]), item, params });
  return el("a", { href, class: "cite" }, citation);
}

/**
 * What the task lists and what the rollout did otherwise, side by side.
 * @param {Run} run
 * @param {number} row
 * @param {Rollout} rollout
 * @param {Route} route
 */
export function expectations(run, row, rollout, route) {
  const { expected = [], gaps = [] } = rollout;
  const tests = Object.entries(rollout.tests ?? {});
  if (!expected.length && !gaps.length && !tests.length) return null;
  const failed = tests.filter(([, status]) => status !== "passed" && status !== "skipped").length;
  const said = [
    expected.length ? `${plural(expected.length, "thing")} expected` : null,
    gaps.length ? plural(gaps.length, "difference") : "no difference found",
    tests.length ? `${plural(tests.length, "test")}, ${failed} not passed` : null,
  ].filter(Boolean);
  return el(
    "details",
    { class: "expected", open: gaps.length > 0 && gaps.length <= 12 },
    el("summary", null, el("strong", null, "Expected and made"), ` · ${said.join(" · ")}`),
    gaps.map((gap) => gapNode(run, row, gap, route)),
    expected.length
      ? el("details", { class: "listed", open: !gaps.length }, el("summary", null, "What the task lists"),
          el("dl", null, expected.flatMap(([kind, text]) => [el("dt", null, kind), el("dd", null, text)])))
      : null,
    tests.length
      ? el("ul", { class: "tests" }, tests.map(([name, status]) => el("li", { class: status }, el("span", { class: "badge" }, status), " ", name)))
      : null,
  );
}

/** @param {Run} run @param {number} row @param {import("./source.js").Gap} gap @param {Route} route */
function gapNode(run, row, gap, route) {
  const side = (/** @type {string} */ title, /** @type {string | undefined} */ text, /** @type {string} */ none) =>
    el("div", null, el("p", { class: "head" }, title), text === undefined ? el("p", { class: "soft" }, none) : el("pre", null, prettyJson(text)));
  return el(
    "div",
    { class: "check" },
    el("p", { class: "met" }, words(gap.what), gap.item === undefined ? null : [" ", citationLink(run, `${run.name(row)}#${gap.item}`, route)]),
    el("div", { class: "sides" }, side("Expected", gap.expected, "not listed"), side("Made", gap.made, "nothing")),
  );
}

/**
 * What else the row says.
 * @param {Rollout} rollout
 */
export function fieldTable(rollout) {
  const rows = [
    ...(rollout.ending?.length ? [["ending", rollout.ending.join(" · ")]] : []),
    ...(rollout.answer === undefined ? [] : [["answer", rollout.answer]]),
    ...Object.entries(rollout.scores ?? {}).map(([name, score]) => [`score ${name}`, String(score)]),
    ...Object.entries(rollout.fields ?? {}),
  ];
  if (!rows.length) return null;
  return el(
    "details",
    { class: "fields" },
    el("summary", null, `What else the row says · ${plural(rows.length, "field")}`),
    el("dl", null, rows.flatMap(([name, value]) => [el("dt", null, name), el("dd", null, value)])),
  );
}

/**
 * @typedef {object} ItemOptions
 * @property {string} query  text to mark
 * @property {string[]} [modes]  failure modes seen here
 * @property {string} [href]  the item's own address
 * @property {boolean} [open]
 * @property {(position: number, node: HTMLElement) => void} [onCite]
 * @property {Node[]} [body]  what to show in place of the text
 */

/**
 * One item.
 * @param {Item} item
 * @param {number} position
 * @param {ItemOptions} options
 */
export function itemNode(item, position, options) {
  const { query, modes = [], href } = options;
  const who = [item.agent, item.role === "tool" ? null : item.role, item.name].filter(Boolean).join(" · ");
  const head = [
    el("span", { class: "kind" }, KINDS[item.kind] ?? item.kind),
    who ? el("strong", null, who) : null,
    item.prompt ? el("span", { class: "soft" }, "given") : null,
    item.error ? el("span", { class: "badge fail" }, `error: ${item.error.slice(0, 80)}`) : null,
    modes.map((mode) => el("span", { class: "badge seen" }, words(mode))),
  ];
  const number = href ? el("a", { class: "number", href }, `#${position}`) : el("span", { class: "number" }, `#${position}`);
  const text = item.text ?? "";
  const folds = ["tool_call", "tool_result", "reasoning"].includes(item.kind) || item.role === "system";
  const found = query !== "" && [text, item.thought ?? ""].some((said) => said.toLowerCase().includes(query.toLowerCase()));
  const body = options.body ?? itemBody(item, query);
  const cite = options.onCite;
  const node = el("article", { class: `item ${item.kind}${item.role ? ` role-${item.role.replace(/[^a-z]/gi, "")}` : ""}`, "data-item": position, tabindex: -1 });
  const button = cite ? el("button", { type: "button", class: "quiet", onclick: () => cite(position, node) }, "Cite") : null;
  if (folds) {
    const open = options.open || found || modes.length > 0 || (item.kind === "tool_call" && text.length < 400);
    node.append(
      number,
      el("details", { open }, el("summary", null, head, el("span", { class: "preview" }, text.slice(0, 160).replace(/\s+/g, " ") + (text.length > 160 ? "…" : ""))), body, button),
    );
  } else {
    node.append(number, el("div", { class: "said" }, el("header", null, head), body, button));
  }
  return node;
}

/** @param {Item} item @param {string} query */
function itemBody(item, query) {
  const parts = [];
  if (item.thought) {
    const found = query !== "" && item.thought.toLowerCase().includes(query.toLowerCase());
    parts.push(el("details", { class: "thought", open: found }, el("summary", null, "thought"), el("pre", null, marked(item.thought, query))));
  }
  parts.push(item.text ? longText(item.kind === "tool_call" ? prettyJson(item.text) : item.text, query) : el("p", { class: "soft" }, "(empty)"));
  if (item.cut) parts.push(el("p", { class: "soft" }, `${plural(item.cut, "character")} more are in the row, not in this page.`));
  return parts;
}

/** A text, folded after its beginning when it is long. @param {string} text @param {string} query */
function longText(text, query) {
  if (text.length <= LONG * 1.4 || (query && text.toLowerCase().indexOf(query.toLowerCase()) > LONG)) {
    return el("pre", null, marked(text, query));
  }
  const pre = el("pre", null, marked(text.slice(0, LONG), query), "…");
  const button = el("button", { type: "button", class: "quiet" }, `Show all ${plural(text.length, "character")}`);
  button.addEventListener("click", () => {
    pre.replaceChildren(...marked(text, query).map((part) => (part instanceof Node ? part : document.createTextNode(String(part)))));
    button.remove();
  });
  return el("div", null, pre, button);
}

/** A call's arguments one to a line, where they are JSON. @param {string} text */
export function prettyJson(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
