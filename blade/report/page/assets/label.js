// Labelling in the page that `blade view` serves; the server checks a label as `blade label` does.

import { el, fill } from "./dom.js";

/** @typedef {import("./data.js").Run} Run */

/**
 * @param {Run} run
 * @param {number} row
 */
export function labelForm(run, row) {
  const task = run.task(row);
  const causes = Object.entries(run.data.causes);
  const proof = el("div", { class: "proofs" });
  const add = (/** @type {string} */ citation, /** @type {string} */ quote) =>
    proof.append(el("div", { class: "proof-line" },
      el("input", { name: "citation", value: citation, "aria-label": "Citation", required: true }),
      el("input", { name: "quote", value: quote, placeholder: "words found there, verbatim", "aria-label": "Quote" }),
    ));
  add(run.name(row), "");
  const said = el("p", { role: "status" });
  const form = /** @type {HTMLFormElement} */ (
    el("form", { class: "label-form" },
      el("label", null, "Cause ", el("select", { name: "cause", required: true }, el("option", { value: "" }, "choose"), causes.map(([id, title]) => el("option", { value: id }, `${id} ${title}`)))),
      el("label", null, "Confidence ", el("select", { name: "confidence" }, ["low", "medium", "high"].map((one) => el("option", { value: one, selected: one === "medium" }, one)))),
      el("label", { class: "wide" }, "Reason ", el("input", { name: "reason", required: true, placeholder: "why this is the cause, in one sentence" })),
      el("div", { class: "wide" }, el("span", null, "Proof"), proof, el("p", { class: "soft" }, "Select words in an item and press its Cite button to add it here.")),
      el("button", { type: "submit" }, `Label task ${task.task}`),
      said,
    )
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.textContent = "Checking…";
    try {
      const label = await send(run, task.task, form);
      Object.assign(task, { cause: label.cause, confidence: label.confidence, author: label.author, reason: label.reason, evidence: label.evidence });
      fill(said, `Labelled ${label.cause} by ${label.author}. It goes into the report with: blade report DIR`);
      dispatchEvent(new CustomEvent("labelled"));
    } catch (error) {
      said.textContent = error instanceof Error ? error.message : String(error);
    }
  });
  const details = el("details", { class: "labelling" }, el("summary", null, "Label this task"), form);
  addEventListener("blade-cite", (event) => {
    if (!details.isConnected) return;
    const { citation, quote } = /** @type {CustomEvent} */ (event).detail;
    /** @type {HTMLDetailsElement} */ (details).open = true;
    add(citation, quote);
  });
  return details;
}

/**
 * @param {Run} run
 * @param {string} task
 * @param {HTMLFormElement} form
 */
async function send(run, task, form) {
  const lines = [...form.querySelectorAll(".proof-line")].map((line) => [...line.querySelectorAll("input")].map((input) => input.value));
  const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value;
  const body = JSON.stringify({
    task,
    cause: field("cause"),
    confidence: field("confidence"),
    reason: field("reason"),
    evidence: lines.filter(([citation]) => citation.trim()).map(([citation, quote]) => ({ citation, quote: quote || null })),
  });
  const response = await fetch("label", { method: "POST", headers: { "Content-Type": "application/json", "X-Blade-Token": run.data.token }, body });
  if (!response.ok) throw new Error((await response.text()) || `The server said ${response.status}.`);
  return response.json();
}
