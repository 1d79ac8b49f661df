// Making elements. Everything foreign becomes a text node; links lead nowhere but into this page.

/** @typedef {Node | string | number | null | undefined | false | readonly any[]} Child  lists may hold lists */

/**
 * An element with attributes, listeners (`onclick` and the like) and children.
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "href" && !String(value).startsWith("#")) throw new Error("only links within the page");
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/**
 * Puts children into a node in place of what it had.
 * @param {Element} node
 * @param {...Child} children
 */
export function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/** @param {Element} node @param {Child[]} children */
function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * The element with an id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`no element ${id}`);
  return node;
}

/**
 * Text with every place where the query stands marked.
 * @param {string} text
 * @param {string} query
 * @returns {Child[]}
 */
export function marked(text, query) {
  if (!query) return [text];
  /** @type {Child[]} */
  const parts = [];
  const lower = text.toLowerCase(), wanted = query.toLowerCase();
  // Lower case may change a text's length; then nothing is marked, for the places would be wrong.
  if (lower.length !== text.length) return [text];
  let at = 0;
  for (let found = lower.indexOf(wanted); found >= 0; found = lower.indexOf(wanted, at)) {
    parts.push(text.slice(at, found), el("mark", null, text.slice(found, found + wanted.length)));
    at = found + wanted.length;
  }
  return [...parts, text.slice(at)];
}

/**
 * Words with what stands in backticks as code.
 * @param {string} text
 * @returns {Child[]}
 */
export function words(text) {
  const parts = text.split("`");
  return parts.length % 2 === 0 ? [text] : parts.map((part, index) => (index % 2 ? el("code", null, part) : part));
}

/**
 * A count with its noun.
 * @param {number} count
 * @param {string} noun
 */
export function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
