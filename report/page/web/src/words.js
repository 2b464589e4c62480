// report/page/web/src/words.js — numbers as the text of vramscope has them.

/** A file with its line, as a person looks for it: train.py:42. @param {{file?: string, line?: number}} frame */
export const lineText = ({ file, line }) => (file && (line ?? 0) > 0 ? `${file}:${line}` : (file ?? ""));

/** One digit behind the point; of two that are as near, the even one, as printf has it. @param {number} value */
function oneDigit(value) {
  const down = Math.floor(value * 10);
  const rest = value * 10 - down;
  const digits = rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
  return (digits / 10).toFixed(1);
}

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** @param {number} bytes "512 B", "64 KiB", "3.1 MiB" */
export function bytesText(bytes) {
  const sign = bytes < 0 ? "−" : "";
  let value = Math.abs(bytes);
  if (value < 1024) return `${sign}${Math.round(value)} B`;
  value /= 1024;
  let unit = 0;
  while (value >= 1023.95 && unit + 1 < UNITS.length) {
    value /= 1024;
    unit += 1;
  }
  return `${sign}${oneDigit(value).replace(/\.0$/, "")} ${UNITS[unit]}`;
}

/** @param {number} ns "850 µs", "12.3 ms", "1.204 s", "2 h 03 min" */
export function timeText(ns) {
  if (ns > 0 && ns < 1000) return `${ns} ns`;
  if (ns < 1e6) return `${Math.floor(ns / 1000)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(1)} ms`;
  const seconds = ns / 1e9;
  if (seconds < 120) return `${seconds.toFixed(3)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** "1.5 s" rather than "1.500 s". @param {number} ns */
export const shortTime = (ns) =>
  ns === 0
    ? "0"
    : timeText(Math.round(ns))
        .replace(/\.0+( m?s)$/, "$1")
        .replace(/(\.\d*[1-9])0+( m?s)$/, "$1$2");

/**
 * Times that stand below each other, with the digits that tell neighbours apart: "1.20 ms", "1.25 ms".
 * @param {number[]} ns ascending
 */
export function timesApart(ns) {
  const most = ns.at(-1) ?? 0;
  const least = Math.min(...ns.slice(1).map((one, at) => one - ns[at] || Infinity));
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]].find(([size]) => most >= size) ?? [1, "ns"];
  const digits = Math.min(Math.max(Math.ceil(Math.log10(size / least) - 1e-6), 0), Math.log10(size));
  if (most < 120e9) return ns.map((one) => (one === 0 ? "0" : `${(one / size).toFixed(digits)} ${unit}`));
  const seconds = ns.some((one) => one % 60e9 !== 0);
  return ns.map((one) => {
    const [hours, minutes] = [Math.floor(one / 3600e9), Math.floor(one / 60e9) % 60];
    const rest = ((one % 60e9) / 1e9).toFixed(digits);
    const parts = [hours > 0 && `${hours} h`, one > 0 && `${minutes} min`, seconds && `${rest} s`];
    return parts.filter(Boolean).join(" ") || "0";
  });
}

/** @param {number} number "1,204" */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** @param {number} number @param {string} noun "1 block", "1,204 blocks" */
export const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

/** @param {number} part @param {number} whole "62.4 %" */
export const percentText = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "–");

/** What a search of the memory found of some blocks: what it is called, and what holds them. */
export const reachName = ({ verdict }) => ({ held: "Held", lost: "Lost" })[verdict] ?? "Possibly held";
/** "lost, held": what was found of its blocks, each once. */
export const reachSummary = ({ reach = [] }) => [...new Set(reach.map((group) => reachName(group).toLowerCase()))].join(", ");
export const reachText = ({ sum, how }) => `${bytesText(sum.bytes)} in ${counted(sum.blocks, "block")}, ${how}`;

/** What is searched for: each of these words must be there. @param {string} text */
export const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** A function without what its parentheses and angle brackets hold: "log_loss(…)". @param {string} name */
export function shortFunction(name) {
  // There, such a sign is no bracket; and Python calls functions <module> and load.<locals>.<lambda>.
  if (/\boperator\b|->|(^|[. ])<\w+>(\.|$)/.test(name)) return name;
  let short = "";
  let depth = 0;
  let inside = 0; // characters that are left out
  for (const c of name) {
    if ((c === ")" || c === ">") && depth > 0) {
      depth -= 1;
      if (depth === 0 && inside > 0) short += "…";
    }
    if (depth === 0) short += c;
    else inside += 1;
    if (c === "(" || c === "<") {
      depth += 1;
      if (depth === 1) inside = 0;
    }
  }
  // An instance of a template is named with what it returns.
  return depth === 0 ? short.replace(/^.* (?=[^ ]*<…>\([^ ]*\)( const)?$)/, "") : name;
}

/** The last part of a path. @param {string} path */
export const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);

const GROWTH = { growing: "grows", unclear: "perhaps grows" };
/** "grows 3.2 MiB per step"; nothing for what does not grow. */
export const growthText = (leak) =>
  GROWTH[leak.class] && rateText(leak.growth) ? `${GROWTH[leak.class]} ${rateText(leak.growth)}` : "";

/** What bytes are told per: without steps each allocation is one. */
export const stepNoun = (per) => (per === "call" ? "allocation" : per);
const wholeBytes = (bytes) => bytesText(Math.max(1, Math.round(bytes)));
/** What was fitted and may be off by more than a twentieth says by how much. */
const intervalText = ({ bytes_per_step: median, bytes_per_step_least: least, bytes_per_step_most: most }) =>
  most - least > median / 10 ? ` (${wholeBytes(least)} to ${wholeBytes(most)})` : "";
export const fasterText = (rate) => (rate.speeds_up ? ", ever faster" : "");
/** "3.2 MiB per step"; nothing for what does not grow. */
export const rateText = (rate) =>
  rate?.bytes_per_step > 0 ? `${wholeBytes(rate.bytes_per_step)} per ${stepNoun(rate.per)}${intervalText(rate)}${fasterText(rate)}` : "";

/** "3.2 MiB a second"; nothing where it grew for too short a time to tell. */
export const perSecondText = (rate) =>
  rate.bytes_per_second === null ? "" : `${bytesText(rate.bytes_per_second)} a second`;

const CLASSES = {
  growing: "grows",
  "start-up": "at start-up",
  cache: "like a cache",
  once: "one block",
  several: "a few blocks",
  unclear: "unclear",
};
export const classText = (row) => CLASSES[row.class] ?? row.class;

const KINDS = {
  "leaked-at-exit": "never freed",
  "leaked-at-reset": "went with its context",
  "in-use-at-crash": "in use at the crash",
  "in-use-now": "in use now",
  "unclosed-import": "never closed",
  "never-destroyed": "never destroyed",
  "graph-owned": "a graph's, which frees it",
};
export const kindText = (row) => KINDS[row.kind] ?? row.kind;
