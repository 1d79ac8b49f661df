// The page of a run: reads its data, follows the address, shows one of two views.

import { Run } from "./data.js";
import { byId } from "./dom.js";
import { showGrid } from "./grid.js";
import { RolloutsView } from "./rollouts.js";
import { Source } from "./source.js";
import "./theme.js";
import { followAddress } from "./views.js";

const data = JSON.parse(byId("page-data").textContent ?? "{}");
const run = new Run(data);
const view = new RolloutsView(run, new Source(data), byId("view-rollouts"));

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
if (run.size) showGrid(run, byId("grid"));
followAddress((route) => view.show(route));
