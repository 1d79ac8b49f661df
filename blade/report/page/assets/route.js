// The address: `#overview`, `#modes` (a section of it), `#rollouts?cause=BI&q=refund`, `#25:0#3?cause=BI&vs=1`.

/**
 * @typedef {object} Route
 * @property {"overview" | "rollouts"} view
 * @property {string} [anchor]  a section of the overview
 * @property {string} [task]
 * @property {number} [repeat]
 * @property {number} [item]
 * @property {Record<string, string>} params  filters, by facet; `q` a text, `vs` the repeat on the right
 */

const CITATION = /^(.*):(\d{1,18})(?:#(\d+))?$/s;

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parseRoute(hash) {
  const text = hash.replace(/^#/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  /** @type {Record<string, string>} */
  const params = Object.create(null);
  for (const pair of cut < 0 ? [] : text.slice(cut + 1).split("&")) {
    const at = pair.indexOf("=");
    if (at > 0) params[decode(pair.slice(0, at))] = decode(pair.slice(at + 1));
  }
  const match = CITATION.exec(path);
  if (match) {
    const item = match[3] === undefined ? undefined : Number(match[3]);
    return { view: "rollouts", task: decode(match[1]), repeat: Number(match[2]), item, params };
  }
  if (path === "rollouts") return { view: "rollouts", params };
  return { view: "overview", anchor: path && path !== "overview" ? decode(path) : undefined, params };
}

/**
 * @param {Route} route
 * @returns {string}
 */
export function formatRoute(route) {
  const { view, task, repeat, item, params } = route;
  let path = view === "overview" ? "overview" : "rollouts";
  if (task !== undefined && repeat !== undefined) {
    path = `${encode(task)}:${repeat}` + (item === undefined ? "" : `#${item}`);
  }
  const said = Object.entries(params).filter(([, value]) => value !== "");
  const query = said.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  return `#${path}${query ? `?${query}` : ""}`;
}

/** @param {string} text */
function encode(text) {
  return encodeURIComponent(text.toWellFormed ? text.toWellFormed() : text);
}
