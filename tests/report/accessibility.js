// What somebody who sees little or nothing would miss on a page: texts without contrast (WCAG AA), controls without names.

const rgb = (text) => {
  const n = text.match(/[\d.]+/g).map(Number);
  const scale = text.startsWith("color(srgb") ? 255 : 1;
  return [n[0] * scale, n[1] * scale, n[2] * scale, n[3] ?? 1];
};
const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

/** How much a text's colour stands out from what is behind it. */
function contrast(home) {
  let under = [255, 255, 255];
  let opacity = 1;
  const chain = [];
  for (let one = home; one; one = one.parentElement) chain.unshift(getComputedStyle(one));
  for (const style of chain) {
    under = over(rgb(style.backgroundColor), under);
    opacity *= Number(style.opacity);
  }
  const ink = rgb(home.closest("svg") ? getComputedStyle(home).fill : getComputedStyle(home).color);
  ink[3] *= opacity;
  const [a, b] = [light(over(ink, under)), light(under)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

const found = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const home = node.parentElement;
  const skipped = !node.data.trim() || home.closest("script, style, noscript, option, title, :disabled");
  if (skipped || !home.checkVisibility()) continue;
  const ratio = contrast(home);
  const where = `${home.tagName}.${home.getAttribute("class")} ${node.data.trim().slice(0, 20)}`;
  if (ratio < 4.5) found.add(`${where}: contrast ${ratio.toFixed(2)}`);
}
const named = (node) =>
  node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length || node.getAttribute("title");
for (const node of document.querySelectorAll("a, button, select, input, summary, [role=img]")) {
  if (!named(node)) found.add(`no name: ${node.outerHTML.slice(0, 80)}`);
}
if (document.querySelectorAll("h1").length !== 1) found.add("not one main heading");
return [...found];
