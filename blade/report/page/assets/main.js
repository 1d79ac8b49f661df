// The page of a run: reads its data, follows the address, shows one of two views.

import { Run } from "./data.js";
import { byId } from "./dom.js";
import { showGrid } from "./grid.js";
import { RolloutsView } from "./rollouts.js";
import { parseRoute } from "./route.js";
import { Source } from "./source.js";
import { watchTheme } from "./theme.js";

const data = JSON.parse(byId("page-data").textContent ?? "{}");
const run = new Run(data);
const view = new RolloutsView(run, new Source(data), byId("view-rollouts"));

function follow() {
  if (location.hash === "#main") return byId("main").focus();
  const route = parseRoute(location.hash);
  for (const name of ["overview", "rollouts"]) {
    byId(`view-${name}`).hidden = name !== route.view;
    const tab = byId(`tab-${name}`);
    if (name === route.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (route.view === "rollouts") void view.show(route);
  else if (route.anchor) document.getElementById(route.anchor)?.scrollIntoView();
  document.title = `${route.task === undefined ? "" : `${route.task}:${route.repeat} · `}${data.run} · BLADE`;
}

addEventListener("hashchange", follow);
addEventListener("labelled", () => view.drawList());
addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  if (byId("view-rollouts").hidden) return;
  if (event.key === "j") view.step(1);
  else if (event.key === "k") view.step(-1);
  else if (event.key === "/") {
    event.preventDefault();
    /** @type {HTMLElement | null} */ (document.querySelector("input[name=q]"))?.focus();
  }
});
watchTheme();
if (run.size) showGrid(run, byId("grid"));
follow();
