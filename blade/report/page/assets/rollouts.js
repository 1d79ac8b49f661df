// The rollouts: filters that combine, the list of what passes them, and the one that is open.

import { el, fill, marked, plural, words } from "./dom.js";
import { labelForm } from "./label.js";
import { pairNode } from "./pair.js";
import { formatRoute } from "./route.js";
import { causeNote, expectations, fieldTable, itemNode, rolloutFacts } from "./trajectory.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./source.js").Source} Source
 * @typedef {import("./source.js").Hit} Hit
 * @typedef {import("./route.js").Route} Route
 */

const FIRST_ROWS = 200;

export class RolloutsView {
  /**
   * @param {Run} run
   * @param {Source} source
   * @param {HTMLElement} place
   */
  constructor(run, source, place) {
    this.run = run;
    this.source = source;
    this.place = place;
    /** @type {Route} */
    this.route = { view: "rollouts", params: Object.create(null) };
    /** @type {number[]} */
    this.rows = [];
    /** @type {Map<number, Hit>} */
    this.hits = new Map();
    this.searched = "";
    this.more = false;
    this.from = 0;
    this.shown = FIRST_ROWS;
    this.turn = 0;
    this.filters = el("form", { class: "filters", role: "search", "aria-label": "Filter rollouts", onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
    this.chips = el("div", { class: "chips", role: "group", "aria-label": "Filters in force; press one to drop it" });
    this.status = el("p", { class: "status", role: "status" });
    this.list = el("ol", { class: "list", "aria-label": "Rollouts" });
    this.detail = el("section", { class: "detail", "aria-label": "The open rollout", tabindex: -1 });
    fill(place, el("div", { class: "split" }, el("aside", { class: "side" }, this.filters, this.chips, this.status, this.list), this.detail));
    this.drawFilters();
  }

  /** @param {Record<string, string>} change @param {Partial<Route>} [more] */
  go(change, more = {}) {
    const params = Object.assign(Object.create(null), this.route.params, change);
    delete params.vs;
    location.hash = formatRoute({ ...this.route, ...more, params });
  }

  drawFilters() {
    const selects = this.run.facets.map((facet) =>
      el(
        "label",
        null,
        el("span", null, facet.title),
        el(
          "select",
          { name: facet.id, onchange: (/** @type {any} */ event) => this.go({ [facet.id]: event.target.value }) },
          el("option", { value: "" }, "any"),
          facet.values.map((value) => el("option", { value: value.id }, `${value.title.replaceAll("`", "")} (${value.rows.length.toLocaleString("en")}${value.of ? ` listed of ${value.of.toLocaleString("en")}` : ""})`)),
        ),
      ),
    );
    const search = el("input", { type: "search", name: "q", placeholder: "Search in all trajectories", "aria-label": "Search in all trajectories", autocomplete: "off", spellcheck: "false" });
    search.addEventListener("change", () => this.go({ q: /** @type {HTMLInputElement} */ (search).value.trim() }));
    const given = el("label", { class: "given" }, el("input", { type: "checkbox", name: "given", onchange: (/** @type {any} */ event) => this.go({ given: event.target.checked ? "1" : "" }) }), "also in what the agent was given");
    fill(this.filters, search, given, el("details", { class: "more-filters", open: matchMedia("(min-width: 900px)").matches }, el("summary", null, "Filters"), el("div", { class: "selects" }, selects)));
  }

  /** The filters in force, each a button that drops it. */
  drawChips() {
    const { params } = this.route;
    const chip = (/** @type {string} */ text, /** @type {() => void} */ onclick) => el("button", { type: "button", onclick }, words(text), " ✕");
    const chips = this.run.facets.filter((facet) => params[facet.id]).map((facet) => {
      const title = facet.values.find((value) => value.id === params[facet.id])?.title ?? params[facet.id];
      return chip(`${facet.title}: ${title}`, () => this.go({ [facet.id]: "" }));
    });
    if (params.q) chips.push(chip(`Text: ${params.q}`, () => this.go({ q: "", given: "" })));
    if (chips.length > 1) chips.push(chip("Clear all", () => (location.hash = formatRoute({ ...this.route, params: Object.create(null) }))));
    fill(this.chips, chips);
  }

  /** @param {Route} route */
  async show(route) {
    const turn = ++this.turn;
    this.route = route;
    for (const field of /** @type {any} */ (this.filters).elements) {
      if (field.type === "checkbox") field.checked = route.params[field.name] === "1";
      else if (field.name) field.value = route.params[field.name] ?? "";
    }
    this.drawChips();
    [this.from, this.shown] = [0, FIRST_ROWS];
    this.rows = this.run.matching(route.params);
    const query = route.params.q ?? "";
    const opened = this.open(turn);
    if (query) await this.search(query, turn);
    else this.hits.clear();
    if (turn !== this.turn) return;
    this.drawList();
    await opened;
    if (turn === this.turn) this.drawPosition();
  }

  /** @param {string} query @param {number} turn */
  async search(query, turn) {
    const candidates = this.rows;
    this.hits.clear();
    this.status.textContent = "Searching…";
    fill(this.list);
    try {
      for await (const hit of this.source.search(query, candidates, this.route.params.given === "1", () => turn === this.turn)) {
        if (turn !== this.turn) return;
        this.hits.set(hit.row, hit);
        if (this.hits.size % 25 === 0) this.status.textContent = `Searching… ${plural(this.hits.size, "rollout")} so far`;
      }
    } catch (error) {
      this.status.textContent = String(error instanceof Error ? error.message : error);
      return;
    }
    this.more = this.source.more;
    this.rows = candidates.filter((row) => this.hits.has(row));
  }

  drawList() {
    const { run, rows } = this;
    const total = run.size;
    this.status.textContent = rows.length === total ? plural(total, "rollout") : `${rows.length.toLocaleString("en")} of ${plural(total, "rollout")}`;
    if (this.more && this.route.params.q) this.status.append(" · there are more; search for something rarer");
    if (run.data.left_out) {
      const what = this.route.params.q ? "not in this page and not searched" : "not in this page";
      this.status.append(` · trajectories of ${run.data.left_out.toLocaleString("en")} ${what}; see them with blade view`);
    }
    if (!rows.length) {
      fill(this.list, el("li", { class: "empty" }, el("p", null, "No rollout passes these filters."), el("p", { class: "soft" }, "Loosen one of them, or clear them all.")));
      return;
    }
    const current = this.current();
    const at = current === null ? -1 : rows.indexOf(current);
    if (at >= 0 && (at < this.from || at >= this.from + this.shown)) this.from = Math.max(0, at - FIRST_ROWS / 4);
    const end = Math.min(rows.length, this.from + this.shown);
    const taskOf = (/** @type {number} */ index) => run.data.rollouts.task[rows[index]];
    const widen = (/** @type {number} */ start, /** @type {number} */ stop) => () => {
      [this.from, this.shown] = [start, stop - start];
      this.drawList();
    };
    const button = (/** @type {string} */ words, /** @type {() => void} */ onclick) => el("li", null, el("button", { type: "button", class: "quiet", onclick }, words));
    fill(
      this.list,
      this.from ? button(`Show earlier (${plural(this.from, "rollout")})`, widen(Math.max(0, this.from - 5 * FIRST_ROWS), end)) : null,
      rows.slice(this.from, end).map((row, index) => this.line(row, index > 0 && taskOf(this.from + index - 1) === taskOf(this.from + index))),
      end < rows.length ? button(`Show more (${plural(rows.length - end, "rollout")})`, widen(this.from, end + 5 * FIRST_ROWS)) : null,
    );
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} row @param {boolean} again  whether the line above is of the same task */
  line(row, again) {
    const { run } = this;
    const hit = this.hits.get(row);
    const task = run.task(row);
    const { vs: _, ...params } = this.route.params;
    const href = formatRoute({ view: "rollouts", task: task.task, repeat: run.repeat(row), item: hit?.item, params });
    const modes = (run.facets.find((facet) => facet.id === "mode")?.values ?? []).filter((value) => value.id !== params.mode && value.rows.length < 2000 && value.rows.includes(row));
    return el(
      "li",
      { class: again ? "again" : null },
      el(
        "a",
        { href, "aria-current": row === this.current() ? "true" : null },
        el("span", { class: `dot ${run.data.rate ? run.verdict(row) : "none"}`, "aria-hidden": "true" }),
        el("span", { class: "name" }, run.name(row)),
        el("span", { class: "soft" }, run.data.rate ? run.verdictWords(row) : String(run.data.rollouts.reward[row] ?? "no score")),
        task.cause && !again ? el("span", { class: "tag" }, task.cause) : null,
        hit ? el("span", { class: "snippet" }, marked(hit.snippet, this.route.params.q ?? "")) : modes.length ? el("span", { class: "snippet soft" }, modes.flatMap((mode, index) => [index ? " · " : "", ...words(mode.title)])) : null,
      ),
    );
  }

  /** The row that is open. @returns {number | null} */
  current() {
    const { task, repeat } = this.route;
    return task === undefined ? null : this.run.rowOf.get(`${task}:${repeat}`) ?? null;
  }

  /** Goes to the next rollout of the current filter, or the one before. @param {number} step */
  step(step) {
    const current = this.current();
    const at = current === null ? (step > 0 ? -1 : this.rows.length) : this.rows.indexOf(current);
    const next = this.rows[at + step];
    if (next === undefined) return;
    this.go({}, { task: this.run.task(next).task, repeat: this.run.repeat(next), item: this.hits.get(next)?.item });
  }

  drawPosition() {
    const current = this.current();
    const place = this.detail.querySelector(".position");
    if (current === null || !place) return;
    const at = this.rows.indexOf(current);
    place.textContent = at < 0 ? "not in the current filter" : `${(at + 1).toLocaleString("en")} of ${this.rows.length.toLocaleString("en")}`;
    const [previous, next] = this.detail.querySelectorAll("button.step");
    /** @type {HTMLButtonElement} */ (previous).disabled = at >= 0 ? at === 0 : !this.rows.length;
    /** @type {HTMLButtonElement} */ (next).disabled = at === this.rows.length - 1;
  }

  /** @param {number} turn */
  async open(turn) {
    const { run, route, source } = this;
    this.place.classList.toggle("opened", route.task !== undefined);
    const row = this.current();
    if (row === null) {
      const missing = route.task !== undefined;
      fill(
        this.detail,
        el("div", { class: "empty" },
          el("p", null, missing ? `There is no rollout ${route.task}:${route.repeat} in this run.` : run.size ? "Choose a rollout to read it." : "This page does not hold the rollouts."),
          el("p", { class: "soft" }, run.size ? "Keys: j next, k previous, / search." : "They were not where they had been when the page was written."),
        ),
      );
      return;
    }
    if (!source.has(row)) {
      fill(this.detail, this.head(row, null), el("div", { class: "empty" }, el("p", null, "This trajectory is not in the page, which would be too large otherwise."), el("p", { class: "soft" }, "Read it with: blade view DIR, or blade show DIR " + run.name(row))));
      return;
    }
    try {
      const rollout = await source.rollout(row);
      const other = route.params.vs === undefined ? undefined : run.rowOf.get(`${route.task}:${route.params.vs}`);
      const second = other === undefined ? null : await source.rollout(other);
      if (turn !== this.turn) return;
      fill(this.detail, this.head(row, rollout), second && other !== undefined ? this.pair(row, rollout, other, second) : this.body(row, rollout));
      this.focusItem();
    } catch (error) {
      if (turn === this.turn) fill(this.detail, el("div", { class: "empty" }, el("p", null, error instanceof Error ? error.message : String(error))));
    }
  }

  /** @param {number} row @param {import("./source.js").Rollout | null} rollout */
  head(row, rollout) {
    const { run, route } = this;
    const others = run.rowsOfTask[run.data.rollouts.task[row]].filter((one) => one !== row);
    const choose = (/** @type {any} */ event) => {
      const params = Object.assign(Object.create(null), route.params, { vs: event.target.value });
      location.hash = formatRoute({ ...route, item: undefined, params });
    };
    const close = formatRoute({ view: "rollouts", params: route.params });
    return el(
      "header",
      { class: "detail-head" },
      el("a", { class: "back", href: close }, "← All rollouts"),
      el("div", { class: "title-line" },
        el("h2", null, run.name(row)),
        el("span", { class: "steps" },
          el("button", { type: "button", class: "step", title: "previous (k)", onclick: () => this.step(-1) }, "← Previous"),
          el("span", { class: "position soft" }),
          el("button", { type: "button", class: "step", title: "next (j)", onclick: () => this.step(1) }, "Next →"),
        ),
      ),
      rolloutFacts(run, row, rollout),
      others.length
        ? el("label", { class: "versus" }, "Beside ",
            el("select", { onchange: choose, "aria-label": "Show another rollout of the task beside this one" },
              el("option", { value: "", selected: route.params.vs === undefined }, "no other rollout"),
              others.map((one) => el("option", { value: run.repeat(one), selected: String(run.repeat(one)) === route.params.vs }, `${run.name(one)} ${run.verdictWords(one)}`)),
            ))
        : null,
      causeNote(run, row, route),
      run.data.source === "server" ? labelForm(run, row) : null,
    );
  }

  /** @param {number} row @param {import("./source.js").Rollout} rollout */
  body(row, rollout) {
    const { run, route } = this;
    const items = rollout.items ?? [];
    const seen = run.marksOf.get(row) ?? [];
    const onCite = run.data.source === "server" ? (/** @type {number} */ position, /** @type {HTMLElement} */ node) => this.cite(row, position, node) : undefined;
    const nodes = items.map((item, position) =>
      itemNode(item, position, {
        query: route.params.q ?? "",
        modes: seen.filter(([at]) => at === position).map(([, mode]) => run.data.modes[mode]),
        href: formatRoute({ ...route, item: position }),
        open: position === route.item,
        onCite,
      }),
    );
    const trajectory = el("div", { class: "trajectory" }, nodes);
    const toggle = (/** @type {boolean} */ open) => trajectory.querySelectorAll("details").forEach((one) => (one.open = open));
    return el("div", null,
      expectations(run, row, rollout, route),
      fieldTable(rollout),
      items.length
        ? el("p", { class: "tools" }, plural(items.length, "item"), el("button", { type: "button", class: "quiet", onclick: () => toggle(true) }, "Open all"), el("button", { type: "button", class: "quiet", onclick: () => toggle(false) }, "Close all"))
        : el("div", { class: "empty" }, el("p", null, "The row holds no trajectory.")),
      trajectory,
    );
  }

  /**
   * @param {number} row @param {import("./source.js").Rollout} rollout
   * @param {number} other @param {import("./source.js").Rollout} second
   */
  pair(row, rollout, other, second) {
    const { run } = this;
    const side = (/** @type {number} */ one, /** @type {import("./source.js").Rollout} */ of) => ({
      name: run.name(one),
      title: el("div", null, el("h3", null, run.name(one)), rolloutFacts(run, one, null)),
      rollout: of,
      items: of.items ?? [],
      link: (/** @type {number} */ item) => formatRoute({ view: "rollouts", task: run.task(one).task, repeat: run.repeat(one), item, params: Object.create(null) }),
    });
    return pairNode(side(row, rollout), side(other, second));
  }

  /** Puts a citation, and the selected words, into the form for labels. @param {number} row @param {number} position @param {HTMLElement} node */
  cite(row, position, node) {
    const selection = getSelection();
    const quote = selection && node.contains(selection.anchorNode) ? selection.toString() : "";
    dispatchEvent(new CustomEvent("blade-cite", { detail: { citation: `${this.run.name(row)}#${position}`, quote } }));
  }

  focusItem() {
    const { item } = this.route;
    if (item !== undefined && !this.detail.querySelector(`[data-item="${item}"]`)) {
      this.detail.querySelector(".trajectory")?.prepend(el("p", { class: "soft" }, `There is no item #${item} in this rollout.`));
    }
    const node = item === undefined ? null : this.detail.querySelector(`[data-item="${item}"]`);
    if (node instanceof HTMLElement) {
      node.classList.add("cited");
      node.scrollIntoView({ block: "center" });
      node.focus({ preventScroll: true });
    } else if (matchMedia("(max-width: 899px)").matches) this.detail.scrollIntoView();
  }
}
