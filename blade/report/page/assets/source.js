// Where trajectories come from: parts inside the page, scripts beside it, or the server that `blade view` runs.

/**
 * @typedef {object} Item
 * @property {string} kind
 * @property {string} [role]
 * @property {string} [name]
 * @property {string} [text]
 * @property {string} [thought]
 * @property {number} [cut]
 * @property {string} [error]
 * @property {string} [agent]
 * @property {boolean} [prompt]
 *
 * @typedef {{what: string, expected?: string, made?: string, item?: number}} Gap
 *
 * @typedef {object} Rollout
 * @property {number} row
 * @property {string} [model]
 * @property {string} [agent]
 * @property {string[]} [ending]
 * @property {string} [source]
 * @property {Record<string, number>} [usage]
 * @property {string} [answer]
 * @property {[string, string][]} [expected]
 * @property {Gap[]} [gaps]
 * @property {Record<string, string>} [tests]
 * @property {Record<string, number | null>} [scores]
 * @property {Record<string, string>} [fields]
 * @property {Item[]} [items]
 *
 * @typedef {{row: number, item: number, snippet: string}} Hit
 */

const KEPT = 24;
const SNIPPET = 90;

export class Source {
  /** @param {import("./data.js").PageData} data */
  constructor(data) {
    this.data = data;
    /** Whether the last search found more than it gave. */
    this.more = false;
    /** @type {Map<number, Promise<Rollout[]>>} */
    this.parts = new Map();
    /** @type {Map<number, (letters: string) => void>} */
    this.waiting = new Map();
    // A part that is a script calls this once it is loaded.
    /** @type {any} */ (globalThis).bladePart = (/** @type {number} */ number, /** @type {string} */ letters) =>
      this.waiting.get(number)?.(letters);
  }

  /** Whether a rollout's trajectory can be had. @param {number} row */
  has(row) {
    return this.data.source === "server" || this.data.rollouts.chunk[row] != null;
  }

  /**
   * @param {number} row
   * @returns {Promise<Rollout>}
   */
  async rollout(row) {
    if (this.data.source === "server") return this.ask(`rollout?row=${row}`);
    if (!this.has(row)) throw new Error("This trajectory is not in the page, which would be too large with it.");
    const part = await this.part(/** @type {number} */ (this.data.rollouts.chunk[row]));
    const found = part.find((rollout) => rollout.row === row);
    if (!found) throw new Error("This page does not hold the trajectory.");
    return found;
  }

  /** @param {number} number */
  part(number) {
    const known = this.parts.get(number);
    if (known) return known;
    const made = this.letters(number).then(unpack);
    this.parts.set(number, made);
    made.catch(() => this.parts.delete(number));
    for (const old of this.parts.keys()) if (this.parts.size > KEPT) this.parts.delete(old);
    return made;
  }

  /**
   * @param {number} number
   * @returns {Promise<string>}
   */
  async letters(number) {
    if (this.data.source === "inline") return document.getElementById(`part-${number}`)?.textContent ?? "";
    return new Promise((done, failed) => {
      this.waiting.set(number, done);
      const script = document.createElement("script");
      script.src = `${this.data.files}/part-${String(number).padStart(4, "0")}.js`;
      script.onerror = () => failed(new Error(`${script.src.split("/").slice(-2).join("/")} is not beside the page.`));
      script.onload = () => script.remove();
      document.head.append(script);
    });
  }

  /**
   * Every item that holds a text, row by row.
   * @param {string} query
   * @param {number[]} rows
   * @param {boolean} given  whether to look in what the agent was given, too
   * @param {() => boolean} wanted  whether anybody still waits for it
   * @returns {AsyncGenerator<Hit>}
   */
  async *search(query, rows, given, wanted) {
    if (this.data.source === "server") {
      const keep = new Set(rows);
      const found = await this.ask(`search?q=${encodeURIComponent(query)}&given=${given ? 1 : 0}`);
      this.more = found.more;
      for (const hit of found.hits) if (keep.has(hit.row)) yield hit;
      return;
    }
    const needle = query.toLowerCase();
    const keep = new Set(rows);
    const parts = [...new Set(rows.map((row) => this.data.rollouts.chunk[row]))];
    for (const number of parts) {
      if (number == null) continue;
      for (const rollout of await this.part(number)) {
        if (!keep.has(rollout.row)) continue;
        const hit = findIn(rollout, needle, given);
        if (hit) yield hit;
      }
      if (!wanted()) return;
    }
  }

  /**
   * @param {string} path
   * @returns {Promise<any>}
   */
  async ask(path) {
    const response = await fetch(path, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error((await response.text()) || `The server said ${response.status}.`);
    return response.json();
  }
}

/**
 * @param {string} letters
 * @returns {Promise<Rollout[]>}
 */
async function unpack(letters) {
  if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old to unpack trajectories.");
  const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/**
 * The first item that holds a text.
 * @param {Rollout} rollout
 * @param {string} needle  in lower case
 * @param {boolean} given
 * @returns {Hit | null}
 */
function findIn(rollout, needle, given) {
  for (const [position, item] of (rollout.items ?? []).entries()) {
    if (item.prompt && !given) continue;
    for (const text of [item.text ?? "", item.thought ?? "", item.name ?? "", item.error ?? ""]) {
      const at = text.toLowerCase().indexOf(needle);
      if (at < 0) continue;
      const from = Math.max(0, at - SNIPPET / 3);
      const snippet = text.slice(from, at + needle.length + SNIPPET).replace(/\s+/g, " ");
      return { row: rollout.row, item: position, snippet: (from ? "…" : "") + snippet };
    }
  }
  return null;
}
