// The run at a glance: every task a stack, every rollout a cell.

import { causeTitle } from "./data.js";
import { el, fill, plural, words } from "./dom.js";
import { formatRoute } from "./route.js";

/** @typedef {import("./data.js").Run} Run */
/** @typedef {{title: string, tasks: number[]}} Group */

const FIRST = 2000;

/**
 * Fills the grid's place.
 * @param {Run} run
 * @param {HTMLElement} place
 */
export function showGrid(run, place) {
  const { tasks } = run.data;
  const orders = [["rate", run.data.rate ? "success rate" : "score"], ["task", "task"]];
  if (run.facets.some((facet) => facet.id === "mode")) orders.push(["mode", "failure mode"]);
  if (tasks.some((task) => task.cause)) orders.push(["cause", "cause"]);
  for (const facet of run.data.facets) if (facet.id.startsWith("field.")) orders.push([facet.id, facet.title]);
  const select = /** @type {HTMLSelectElement} */ (
    el("select", { id: "grid-order", onchange: () => draw() }, orders.map(([id, title]) => el("option", { value: id }, title)))
  );
  const body = el("div", { class: "grid-body", role: "group", "aria-label": "Tasks and their rollouts; arrow keys move" });
  const tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  const short = tasks.every((task) => task.task.length <= 4);
  const named = !short && tasks.length <= 48;
  body.classList.toggle("large", tasks.length <= 90);
  body.classList.toggle("named", named);
  body.style.setProperty("--tasks", String(tasks.length));

  const draw = (most = FIRST) => {
    let left = most;
    const groups = grouped(run, select.value);
    fill(
      body,
      groups.map((group) => {
        const shown = group.tasks.slice(0, Math.max(0, left));
        left -= shown.length;
        if (!shown.length) return null;
        return el(
          "div",
          { class: "grid-group" },
          group.title ? el("h3", null, words(group.title), el("span", { class: "soft" }, ` ${plural(group.tasks.length, "task")}`)) : null,
          el("div", { class: "stacks" }, shown.map((task) => stack(run, task, named || (short && tasks.length <= 90)))),
        );
      }),
      tasks.length > most ? el("button", { type: "button", onclick: () => draw(Infinity) }, `Show all ${plural(tasks.length, "task")}`) : null,
    );
    body.querySelector("a.cell")?.setAttribute("tabindex", "0");
  };
  watch(run, body, tip);
  fill(place, el("p", { class: "order" }, el("label", { for: "grid-order" }, "Sort by "), select, legend(run)), body, tip);
  draw();
}

/** @param {Run} run */
function legend(run) {
  const names = run.data.rate ? [["pass", "passed"], ["fail", "failed"], ["none", "no verdict"]] : [["g0", "low"], ["g2", "middle"], ["g4", "high"]];
  if (run.data.rollouts.ending.some((ending) => ending > 0)) names.push(["fail ended", "stopped early"]);
  return el("span", { class: "legend", "aria-hidden": "true" }, names.map(([kind, name]) => [el("span", { class: `cell ${kind}` }), name]));
}

/** @param {Run} run @param {number} task @param {boolean} labelled */
function stack(run, task, labelled) {
  const name = run.data.tasks[task].task;
  return el(
    "div",
    { class: "stack" },
    run.rowsOfTask[task].map((row) =>
      el("a", {
        class: `cell ${run.data.rate ? run.verdict(row) : shade(run, row)}${run.data.rollouts.ending[row] ? " ended" : ""}`,
        href: formatRoute({ view: "rollouts", task: name, repeat: run.repeat(row), params: {} }),
        tabindex: -1,
        "data-row": row,
        "aria-label": `${run.name(row)} ${run.verdictWords(row)}`,
      }),
    ),
    run.rowsOfTask[task].length ? null : el("span", { class: "cell absent", title: "no rollout" }),
    labelled ? el("span", { class: "key", title: name }, name) : null,
  );
}

/** How a graded score is shaded. @param {Run} run @param {number} row */
function shade(run, row) {
  const reward = run.data.rollouts.reward[row];
  if (reward === null) return "none";
  const [low, high] = run.range;
  return `g${Math.min(4, Math.floor((5 * (reward - low)) / (high - low || 1)))}`;
}

/**
 * Tasks in groups, by what the reader chose.
 * @param {Run} run
 * @param {string} order
 * @returns {Group[]}
 */
function grouped(run, order) {
  const { tasks } = run.data;
  const all = tasks.map((_, index) => index);
  const score = (/** @type {number} */ task) => tasks[task].score ?? -1;
  const byScore = (/** @type {number[]} */ list) => [...list].sort((a, b) => score(b) - score(a) || a - b);
  if (order === "task") return [{ title: "", tasks: all }];
  if (order === "rate") return [{ title: "", tasks: byScore(all) }];
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  const put = (/** @type {string} */ title, /** @type {number} */ task) => groups.set(title, [...(groups.get(title) ?? []), task]);
  if (order === "cause") {
    for (const task of all) put(tasks[task].cause ? causeTitle(tasks[task].cause ?? "", run.data.causes) : "no cause needed", task);
  } else {
    const facet = run.facets.find((one) => one.id === order);
    const left = new Set(all);
    for (const value of facet?.values ?? []) {
      const failing = value.rows.filter((row) => order !== "mode" || run.verdict(row) !== "pass");
      for (const task of new Set(failing.map((row) => run.data.rollouts.task[row]))) if (left.delete(task)) put(value.title, task);
    }
    for (const task of left) put(order === "mode" ? "none seen" : "not stated", task);
  }
  return [...groups].map(([title, list]) => ({ title, tasks: byScore(list) }));
}

/**
 * Hover, focus and arrow keys.
 * @param {Run} run
 * @param {HTMLElement} body
 * @param {HTMLElement} tip
 */
function watch(run, body, tip) {
  const cellOf = (/** @type {EventTarget | null} */ target) =>
    target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("a.cell")) : null;
  const show = (/** @type {HTMLElement | null} */ cell) => {
    tip.hidden = cell === null;
    if (!cell) return;
    fill(tip, tipLines(run, Number(cell.dataset.row)));
    const box = cell.getBoundingClientRect(), home = /** @type {HTMLElement} */ (tip.offsetParent ?? document.body).getBoundingClientRect();
    const left = Math.max(0, Math.min(box.left - home.left - 20, home.width - tip.offsetWidth));
    tip.style.left = `${left}px`;
    tip.style.top = `${box.bottom - home.top + 6}px`;
  };
  body.addEventListener("mouseover", (event) => show(cellOf(event.target)));
  body.addEventListener("mouseleave", () => show(null));
  body.addEventListener("focusin", (event) => show(cellOf(event.target)));
  body.addEventListener("focusout", () => show(null));
  body.addEventListener("keydown", (event) => {
    const cell = cellOf(event.target);
    const named = body.classList.contains("named");
    const move = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!cell || !move) return;
    // Where tasks are lines, their cells lie side by side.
    const step = named ? [move[1], move[0]] : move;
    event.preventDefault();
    const stacks = [...body.querySelectorAll(".stack")];
    const home = /** @type {Element} */ (cell.closest(".stack"));
    const cells = (/** @type {Element} */ stack) => /** @type {HTMLElement[]} */ ([...stack.querySelectorAll("a.cell")]);
    const place = cells(home).indexOf(cell);
    let next = step[0] ? null : cells(home)[place + step[1]];
    for (let at = stacks.indexOf(home) + step[0]; step[0] && !next && at >= 0 && at < stacks.length; at += step[0]) {
      const there = cells(stacks[at]);
      next = there[Math.min(place, there.length - 1)];
    }
    if (!next) return;
    cell.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

/** @param {Run} run @param {number} row */
function tipLines(run, row) {
  const task = run.task(row);
  const modes = (run.facets.find((facet) => facet.id === "mode")?.values ?? []).filter((value) => value.rows.includes(row));
  const rate = run.data.rate ? `task passes ${task.c ?? 0} of ${task.n ?? 0}` : `task's score ${task.score?.toFixed(3) ?? "n/a"}`;
  const ending = run.data.endings[run.data.rollouts.ending[row]];
  return [
    el("strong", null, run.name(row)),
    el("span", null, ` ${run.verdictWords(row)}${ending === "completed" ? "" : ` (${ending.replace("_", " ")})`}`),
    el("p", null, rate),
    task.cause ? el("p", null, `cause: ${causeTitle(task.cause, run.data.causes)}`) : null,
    modes.slice(0, 3).map((mode) => el("p", null, "seen: ", words(mode.title))),
  ];
}
