// report/page/web/src/found.js — what the whole page is searched for: each list of it, and the address of a row there.
import { tellApart } from "./apart.js";
import { diff, functionText, highest, job, ownFrame, plan, processText, report } from "./data.js";
import { HELD } from "./held.js";
import { KINDS } from "./job/findings.jsx";
import { rankText, valuesText } from "./job/words.js";
import { bytesText, counted, grouped, lineText, shortFunction, timeText, wordsOf } from "./words.js";

/** The call that a row is known by. */
export const callOf = (row) => row.call ?? row.allocation ?? row.noticed ?? row;

/** Where the call stacks show a row's function, and what it has of them. */
const inStacks = (kind) => (row) => {
  const [name] = shortFunction(ownFrame(row)?.function ?? "").split(/[(<]/);
  return { stacks: kind, find: name };
};
const opened = (list) => (row) => ({ [list]: row.id });
const bytesOf = (row) => (row.bytes > 0 ? bytesText(row.bytes) : "");
const timesOf = (row) => counted(row.calls ?? row.times ?? row.blocks, "time");
const changeOf = ({ base, new: now }) => `${bytesText(base.bytes ?? 0)} → ${bytesText(now.bytes ?? 0)}`;

/**
 * In the order of the page. `settings`: what the address says so that a row is seen; `name` and `text`: of rows that
 * are no calls, what they are called, and what else of them is searched.
 * @type {{part: string, title: string, rows?: object[], settings?: Function, amount?: Function, name?: Function}[]}
 */
const OF_REPORT = [
  { part: "diff", title: "Leaks that changed", rows: diff?.leaks, amount: changeOf },
  { part: "diff", title: "Findings that changed", rows: diff?.findings, amount: (row) => row.kind },
  { part: "tests", title: "Tests", rows: report.shown.flatMap((one) => one.tests), name: (row) => row.name },
  {
    part: "timeline",
    title: "Marks",
    rows: report.shown.flatMap((one) => one.marks ?? []),
    name: (row) => row.name,
    amount: (row) => timeText(row.ns),
  },
  { part: "leaks", title: HELD.part, rows: report.leaks, settings: opened("leak"), amount: bytesOf },
  { part: "shortages", title: "Out of memory", rows: report.out_of_memory, amount: (row) => timeText(row.at_ns) },
  { part: "misuse", title: "Wrong frees", rows: report.misuse, settings: opened("wrong-free"), amount: timesOf },
  { part: "misuse", title: "Damaged blocks", rows: report.damage, settings: opened("damage"), amount: timesOf },
  { part: "growth", title: "Growth", rows: report.growth, settings: opened("growing"), amount: bytesOf },
  { part: "workspaces", title: "Workspaces", rows: report.workspaces, settings: opened("workspace"), amount: bytesOf },
  { part: "refused", title: "Refused calls", rows: report.failed_calls, settings: opened("refused-call"), amount: timesOf },
  ...["unclosed_imports", "owners_not_destroyed", "graph_memory", "held_at_work_end", "reservations"].map((list) => ({
    part: "open",
    title: "Open at the end",
    rows: report[list],
    settings: opened(list),
    amount: (row) => bytesOf(row) || timesOf(row),
  })),
  { part: "suppressed", title: "Suppressed", rows: report.suppressed, settings: opened("hidden"), amount: bytesOf },
  { part: "flame", title: "At the peak", rows: highest?.peak.stacks, settings: inStacks("peak"), amount: bytesOf },
  {
    part: "flame",
    title: "Allocations",
    rows: report.shown.flatMap((process) => process.churn.sites),
    settings: inStacks("allocated"),
    amount: (row) => counted(row.allocations, "allocation"),
  },
  {
    part: "ranks",
    title: "Processes",
    rows: report.process_count > 1 ? report.processes : [],
    name: (row) => `${processText(row.index)}: ${row.command || row.program}`,
  },
  {
    part: "coverage",
    title: "What it ran on",
    rows: report.shown.slice(0, 1).flatMap((process) => process.info ?? []),
    name: (row) => `${row.key}: ${row.value}`,
  },
];
const OF_PLAN = (plan?.devices ?? []).flatMap((device) => [
  { part: "policies", title: "Policies", rows: device.policies, name: (row) => `${row.name}: ${row.words}` },
  { part: "peak", title: "At the peak", rows: device.holders, amount: bytesOf },
  { part: "pins", title: "Pinned", rows: device.pinned_at_peak, amount: bytesOf },
]);
const OF_JOB = [
  ...KINDS.map(({ id, heading }) => ({
    part: id,
    title: heading,
    rows: job?.findings.filter(({ kind, api }) => kind === id && api),
    settings: opened(`${id}-row`),
    amount: valuesText,
  })),
  { part: "map", title: "Processes", rows: job?.processes, settings: ({ number }) => ({ rank: number }), name: ({ number, host, log }) => [rankText(number), host, log].filter(Boolean).join(", ") },
];
const LISTS = (plan ? OF_PLAN : job ? OF_JOB : OF_REPORT).filter(({ rows }) => rows?.length > 0);

const texts = new WeakMap(); // of rows and of call stacks, which many rows share
function once(key, make) {
  if (!texts.has(key)) texts.set(key, make());
  return texts.get(key);
}
const frameText = (frame) =>
  once(frame, () => [frame.function, lineText(frame), frame.module].filter(Boolean).join("\n").toLowerCase());

/** All words of a row: its own, and those of its calls. Numbers are not searched. */
function textOf(value) {
  if (typeof value === "string") return value.toLowerCase();
  if (value === null || typeof value !== "object") return "";
  return once(value, () =>
    (value[0]?.function === undefined ? Object.values(value).map(textOf) : value.map(frameText))
      .filter(Boolean)
      .join("\n"),
  );
}
const textOfRow = (list, row) => (list.name ? once(row, () => list.name(row).toLowerCase()) : textOf(row));

/** Makes the texts that are searched, so that the first letter is answered as soon as the others. */
export function prepare() {
  for (const list of LISTS) for (const row of list.rows) textOfRow(list, row);
}

const MOST_SHOWN = 6; // of each list

/**
 * The lists that have a row with all of these words, with the first of those rows.
 * @param {string} wanted
 * @returns {{part: string, title: string, all: number, rows: {name: string, row?: object, amount: string, address: string}[]}[]}
 */
export function found(wanted) {
  const words = wordsOf(wanted);
  if (words.length === 0) return [];
  return LISTS.map((list) => {
    if (list.rows[0].stack) tellApart(list.rows);
    const rows = list.rows.filter((row) => {
      const text = textOfRow(list, row);
      return words.every((word) => text.includes(word));
    });
    return {
      ...list,
      all: rows.length,
      rows: rows.slice(0, MOST_SHOWN).map((row) => ({
        row: list.name ? null : callOf(row),
        name: list.name ? list.name(row) : functionText(callOf(row)),
        amount: list.amount?.(row) ?? "",
        address: `#${[list.part, list.settings && new URLSearchParams(list.settings(row))].filter(Boolean).join("&")}`,
      })),
    };
  }).filter(({ all }) => all > 0);
}

/** "12 rows in 3 lists" */
export function foundText(lists) {
  const rows = lists.reduce((sum, { all }) => sum + all, 0);
  return rows === 0 ? "nothing found" : `${counted(rows, "row")} in ${grouped(lists.length)} list${lists.length === 1 ? "" : "s"}`;
}
