// What the page knows of the run before a trajectory is opened; see PageData in data.py.

/**
 * @typedef {object} Task
 * @property {string} task
 * @property {string} [bucket]
 * @property {number} [c]
 * @property {number} [n]
 * @property {number} [score]
 * @property {string} [cause]
 * @property {string} [confidence]
 * @property {string} [author]
 * @property {string} [reason]
 * @property {{citation: string, quote?: string | null}[]} [evidence]
 * @property {[string, number][]} [candidates]
 * @property {[string, string][]} [steps]
 *
 * @typedef {object} Columns
 * @property {number[]} task
 * @property {number[]} repeat
 * @property {(number | null)[]} passed
 * @property {(number | null)[]} reward
 * @property {number[]} ending
 * @property {(number | null)[]} tokens
 * @property {(number | null)[]} seconds
 * @property {(number | null)[]} calls
 * @property {(number | null)[]} chunk
 *
 * @typedef {{id: string, title: string, rows: number[], of?: number | null}} Value
 * @typedef {{id: string, title: string, values: Value[]}} Facet
 *
 * @typedef {object} PageData
 * @property {string} run
 * @property {boolean} rate
 * @property {Task[]} tasks
 * @property {Columns} rollouts
 * @property {string[]} endings
 * @property {Facet[]} facets
 * @property {string[]} modes
 * @property {[number, number, number][]} marks
 * @property {Record<string, string>} causes
 * @property {string} source
 * @property {string} files
 * @property {number} left_out
 * @property {string} token
 */

/** A run with what is looked up often. */
export class Run {
  /** @param {PageData} data */
  constructor(data) {
    this.data = data;
    this.size = data.rollouts.task.length;
    /** @type {Map<string, number>} */
    this.rowOf = new Map();
    /** @type {number[][]} */
    this.rowsOfTask = data.tasks.map(() => []);
    for (let row = 0; row < this.size; row++) {
      this.rowOf.set(this.name(row), row);
      this.rowsOfTask[data.rollouts.task[row]].push(row);
    }
    /** @type {[number, number]} */
    this.range = [0, 1];
    for (const reward of data.rollouts.reward) {
      if (reward !== null) this.range = [Math.min(this.range[0], reward), Math.max(this.range[1], reward)];
    }
    /** @type {Map<number, [number, number][]>} */
    this.marksOf = new Map();
    for (const [row, item, mode] of data.marks) {
      this.marksOf.set(row, [...(this.marksOf.get(row) ?? []), [item, mode]]);
    }
    this.facets = [...this.ownFacets(), ...data.facets];
  }

  /** @param {number} row */
  task(row) {
    return this.data.tasks[this.data.rollouts.task[row]];
  }

  /** @param {number} row */
  repeat(row) {
    return this.data.rollouts.repeat[row];
  }

  /** The citation of a rollout. @param {number} row */
  name(row) {
    return `${this.task(row).task}:${this.repeat(row)}`;
  }

  /** `pass`, `fail`, or `none` when nobody knows. @param {number} row */
  verdict(row) {
    const passed = this.data.rollouts.passed[row];
    return passed === null ? "none" : passed ? "pass" : "fail";
  }

  /** A verdict in words. @param {number} row */
  verdictWords(row) {
    if (!this.data.rate) return this.data.rollouts.reward[row] === null ? "no score" : "scored";
    return { pass: "passed", fail: "failed", none: "no verdict" }[this.verdict(row)];
  }

  /** @returns {Facet[]} */
  ownFacets() {
    const { tasks, rollouts, endings, rate, causes } = this.data;
    const all = Array.from({ length: this.size }, (_, row) => row);
    /** @type {(id: string, title: string, pick: (row: number) => [string, string] | null) => Facet} */
    const facet = (id, title, pick) => {
      /** @type {Map<string, Value>} */
      const values = new Map();
      for (const row of all) {
        const picked = pick(row);
        if (!picked) continue;
        const value = values.get(picked[0]) ?? { id: picked[0], title: picked[1], rows: [] };
        value.rows.push(row);
        values.set(picked[0], value);
      }
      return { id, title, values: [...values.values()].sort((a, b) => b.rows.length - a.rows.length) };
    };
    const found = [];
    if (rate) found.push(facet("verdict", "Verdict", (row) => [this.verdict(row), this.verdictWords(row)]));
    found.push(
      facet("bucket", "Task passes", (row) => {
        const bucket = tasks[rollouts.task[row]].bucket;
        return bucket ? [bucket, bucket] : null;
      }),
      facet("cause", "Cause", (row) => {
        const cause = tasks[rollouts.task[row]].cause;
        return cause ? [cause, causeTitle(cause, causes)] : null;
      }),
      facet("ending", "Ended by", (row) => [endings[rollouts.ending[row]], endings[rollouts.ending[row]].replace("_", " ")]),
    );
    return found.filter((one) => one.values.length > (one.id === "ending" ? 1 : 0));
  }

  /**
   * Rows that pass every filter but the text.
   * @param {Record<string, string>} params
   * @returns {number[]}
   */
  matching(params) {
    let rows = Array.from({ length: this.size }, (_, row) => row);
    for (const facet of this.facets) {
      if (!params[facet.id]) continue;
      const keep = new Set(facet.values.find((value) => value.id === params[facet.id])?.rows ?? []);
      rows = rows.filter((row) => keep.has(row));
    }
    return rows;
  }
}

/**
 * `BI+KG?` in words.
 * @param {string} cause
 * @param {Record<string, string>} causes
 */
export function causeTitle(cause, causes) {
  if (cause === "?") return "undecided";
  const words = cause.replace(/\?$/, "").split("+").map((part) => causes[part] ?? part).join(" and ");
  return cause.endsWith("?") ? `${words} (undecided)` : words;
}
