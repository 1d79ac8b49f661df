// The page of a comparison: its overview, and both rollouts of a task that moved side by side.

import { Run } from "./data.js";
import { byId, el, fill } from "./dom.js";
import { pairNode } from "./pair.js";
import { formatRoute } from "./route.js";
import { Source } from "./source.js";
import "./theme.js";
import { rolloutFacts } from "./trajectory.js";
import { followAddress } from "./views.js";

/**
 * @typedef {{task: string, direction: string, delta: number, base: number, candidate: number}} Driver
 * @typedef {import("./route.js").Route} Route
 */

const data = JSON.parse(byId("page-data").textContent ?? "{}");
const runs = data.sides.map((/** @type {import("./data.js").PageData} */ side) => new Run(side));
const sources = data.sides.map((/** @type {import("./data.js").PageData} */ side) => new Source(side));
/** @type {Driver[]} */
const drivers = data.drivers;
const list = el("ol", { class: "list", "aria-label": "Tasks that moved" });
const detail = el("section", { class: "detail", "aria-label": "Both rollouts", tabindex: -1 });
fill(byId("view-rollouts"), el("div", { class: "split" }, el("aside", { class: "side" }, list), detail));
let turn = 0;

/** The address of a task's two rollouts. @param {Driver} driver @param {number} base @param {number} candidate */
function address(driver, base, candidate) {
  return formatRoute({ view: "rollouts", task: driver.task, repeat: base, params: { with: String(candidate) } });
}

/** A difference as the overview writes it. @param {number} delta */
function difference(delta) {
  const sign = delta < 0 ? "\u2212" : "+";
  return runs[0].data.rate ? `${sign}${(100 * Math.abs(delta)).toFixed(1)} pp` : `${sign}${Math.abs(delta).toFixed(3)}`;
}

/** @param {Route} route */
function drawList(route) {
  fill(
    list,
    drivers.length ? null : el("li", { class: "empty" }, el("p", null, "No task moved.")),
    drivers.map((driver) =>
      el("li", null,
        el("a", { href: address(driver, driver.base, driver.candidate), "aria-current": driver.task === route.task ? "true" : null },
          el("span", { class: `dot ${driver.direction === "regressed" ? "fail" : "pass"}`, "aria-hidden": "true" }),
          el("span", { class: "name" }, driver.task),
          el("span", { class: "soft" }, difference(driver.delta)),
        ),
      ),
    ),
  );
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

/** @param {Driver} driver @param {Route} route @param {number} side */
function chooser(driver, route, side) {
  /** @type {Run} */
  const run = runs[side];
  const task = run.data.tasks.findIndex((one) => one.task === driver.task);
  const rows = task < 0 ? [] : run.rowsOfTask[task];
  const now = side ? Number(route.params.with) : route.repeat;
  const choose = (/** @type {any} */ event) => {
    const repeat = Number(event.target.value);
    location.hash = side ? address(driver, route.repeat ?? 0, repeat) : address(driver, repeat, Number(route.params.with));
  };
  return el("label", { class: "versus" }, `${run.data.run} `,
    el("select", { onchange: choose }, rows.map((row) => el("option", { value: run.repeat(row), selected: run.repeat(row) === now }, `${run.name(row)} ${run.verdictWords(row)}`))));
}

/** @param {Route} route */
async function open(route) {
  const mine = ++turn;
  byId("view-rollouts").classList.toggle("opened", route.task !== undefined);
  drawList(route);
  const driver = drivers.find((one) => one.task === route.task);
  if (!driver) {
    fill(detail, el("div", { class: "empty" }, el("p", null, route.task === undefined ? "Choose a task to see both runs' rollouts side by side." : `Task ${route.task} is not among those that moved most.`)));
    return;
  }
  const rows = [runs[0].rowOf.get(`${route.task}:${route.repeat}`), runs[1].rowOf.get(`${route.task}:${route.params.with}`)];
  const head = el("header", { class: "detail-head" },
    el("a", { class: "back", href: formatRoute({ view: "rollouts", params: {} }) }, "← All tasks"),
    el("h2", null, driver.task), chooser(driver, route, 0), chooser(driver, route, 1));
  const side = async (/** @type {number} */ index) => {
    const row = rows[index];
    const held = row !== undefined && sources[index].has(row);
    const rollout = held ? await sources[index].rollout(row) : null;
    return {
      name: `${runs[index].data.run} ${row === undefined ? "" : runs[index].name(row)}`,
      title: el("div", null, el("h3", null, `${runs[index].data.run} `, row === undefined ? "" : runs[index].name(row)), row === undefined ? null : rolloutFacts(runs[index], row, null), held ? null : el("p", { class: "soft" }, "not in this page")),
      rollout,
      items: rollout?.items ?? [],
      link: () => undefined,
    };
  };
  try {
    const [left, right] = [await side(0), await side(1)];
    if (mine === turn) fill(detail, head, pairNode(left, right));
  } catch (error) {
    if (mine === turn) fill(detail, head, el("p", null, error instanceof Error ? error.message : String(error)));
  }
}

followAddress(open);
