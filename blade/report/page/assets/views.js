// Two views of a page, chosen by its address.

import { byId } from "./dom.js";
import { parseRoute } from "./route.js";

/**
 * Shows the view that the address names, now and whenever it changes.
 * @param {(route: import("./route.js").Route) => unknown} open  fills the view of the rollouts
 */
export function followAddress(open) {
  const title = document.title;
  const follow = () => {
    if (location.hash === "#main") return byId("main").focus();
    const route = parseRoute(location.hash);
    for (const name of ["overview", "rollouts"]) {
      byId(`view-${name}`).hidden = name !== route.view;
      const tab = byId(`tab-${name}`);
      if (name === route.view) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    document.title = route.task === undefined ? title : `${route.task}:${route.repeat} · ${title}`;
    if (route.view === "rollouts") void open(route);
    else if (route.anchor) document.getElementById(route.anchor)?.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();
}
