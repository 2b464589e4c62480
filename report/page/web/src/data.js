// report/page/web/src/data.js — what the page is made of: documents that have the names of `vramscope schema`.
//
// Beside them is what is drawn of the devices, which is joined to them here.

import { readOnce } from "./address.js";
import { reportOf } from "./only.js";
import { unpacked } from "./unpack.js";
import { fileName, lineText, shortFunction } from "./words.js";

const { documents, frames } = unpacked(JSON.parse(document.getElementById("data").textContent));

// A function as the text of vramscope has it.
for (const frame of frames)
  frame.function =
    frame.function?.replaceAll("(anonymous namespace)::", "") ?? `${fileName(frame.module ?? "?")}+${frame.offset}`;

/**
 * The points of a timeline are spans of time with a height from `least` to `peak`. Where nothing happened
 * after one for a while, and at the end of the log, what it left holds: that is a point more.
 */
export function lineOf(timeline, end) {
  const names = Object.keys(timeline);
  const line = Object.fromEntries(names.map((name) => [name, []]));
  const { ns = [] } = timeline;
  let span = Infinity;
  for (let at = 1; at < ns.length; ++at) span = Math.min(span, ns[at] - ns[at - 1]);
  const hold = (at, time) => {
    for (const name of names) line[name].push(timeline[name][at]);
    line.ns.splice(-1, 1, time);
    for (const name of ["peak", "least"]) line[name].splice(-1, 1, timeline.allocated[at]);
    line.peak_reserved.splice(-1, 1, timeline.reserved[at]);
  };
  for (let at = 0; at < ns.length; ++at) {
    for (const name of names) line[name].push(timeline[name][at]);
    const next = ns[at + 1] ?? end;
    if (next - ns[at] > 1.5 * span && timeline.least[at] < timeline.peak[at]) hold(at, ns[at] + span);
    if (at + 1 === ns.length && end > line.ns.at(-1)) hold(at, end);
  }
  return line;
}

/** The moments of a device, each with its span of time, and what was alive then. */
const momentsOf = ({ stacks: places, moments }, process) =>
  moments.map((moment, at) => ({
    ...moment,
    to_ns: moments[at + 1]?.from_ns ?? Math.max(process.duration_ns, moment.ns),
    rows: () =>
      moment.stacks.map((stack, part) => ({
        ...places[stack],
        bytes: moment.stack_bytes[part],
        blocks: moment.stack_blocks[part],
      })),
  }));

const deviceOf = (device, { timeline, compositions, maps }, process) => ({
  ...device,
  process,
  name: process.devices.find((one) => one.ordinal === device.device)?.name ?? "",
  timeline,
  line: lineOf(timeline, process.duration_ns),
  moments: momentsOf(compositions, process),
  places: compositions.stacks,
  lives: compositions.lives,
  since_ns: compositions.since_ns,
  maps,
});

/** The host's memory over time, as a device's; null: nothing is known of it. */
const hostOf = (compositions, process) =>
  compositions.moments.length === 0
    ? null
    : {
        process,
        moments: momentsOf(compositions, process),
        places: compositions.stacks,
        lives: compositions.lives,
        since_ns: compositions.since_ns,
      };

function processOf(process, index) {
  const made = { ...process, index, tests: process.tests ?? [], frameworks: process.frameworks ?? [] };
  made.tests.forEach((test) => Object.assign(test, { process: index }));
  made.memory = process.device_memory.map((device, at) => deviceOf(device, documents.drawn[index][at], made));
  made.host = hostOf(documents.host[index], made);
  return made;
}

// A plan or a job is a page of its own, whose report has nothing.
const NOTHING = { kind: "nothing-allocated", title: "", sentence: "" };
const whole = documents.report ?? {
  findings: [NOTHING],
  totals: {},
  leaks: [],
  growth: [],
  misuse: [],
  damage: [],
  processes: [],
  ranks: { rows: [] },
};

const made = {
  ...whole,
  view: documents.view,
  until_ns: documents.until_ns ?? null,
  thinned: documents.thinned,
  processes: whole.processes.map(processOf),
  process_count: whole.processes.all ?? 0,
};

/** The process that alone is spoken of: its index; null: all are. */
export const only = made.processes.length > 1 ? (made.processes[readOnce("process")]?.index ?? null) : null;
export const report = reportOf(made, only);

/** Of the program's sources: the address of a line, the folder that {file} is below, and lines that are here. */
export const sources = {
  url: documents.source_url ?? "",
  root: documents.source_root ?? "",
  files: documents.sources ?? [],
};

/** What a run was held against. */
export const check = documents.check ?? null;
export const diff = documents.diff ?? null;

function planOf({ processes, answer, ...planned }) {
  const devices = processes.map((process) => process.devices.map((device) => ({ ...process, ...device })));
  const device = answer && devices[answer.process][answer.device];
  return {
    ...planned,
    processes,
    devices: devices.flat(),
    answer: device && {
      ...answer,
      device,
      judged: device.policies[0],
      best: device.policies[answer.best] ?? null,
      lower: devices[answer.lower_process][answer.lower],
    },
  };
}
export const plan = documents.plan ? planOf(documents.plan) : null;
/** Many ranks, joined. */
export const job = documents.job ?? null;

/** Every device of every process, that with the highest peak first of all to look at. */
export const devices = report.shown.flatMap((process) => process.memory);
export const allocatedAtPeak = (device) => device.at_peak.waterfall.allocated;
export const highest = devices.reduce(
  (best, one) => (allocatedAtPeak(one) > allocatedAtPeak(best) ? one : best),
  devices[0],
);

const rankOf = new Map(report.ranks.rows.map((row) => [row.process, row.rank]));
/** "rank 3", "process 4711" @param {number} index */
export const processText = (index) => {
  const rank = rankOf.get(index) ?? null;
  return rank === null ? `process ${report.processes[index]?.pid ?? "?"}` : `rank ${rank}`;
};

export function deviceText(device) {
  const ordinal = device.device ?? "?";
  const process = report.processes.length > 1 ? `${processText(device.process.index)}, ` : "";
  return `${process}device ${ordinal}${device.name ? ` · ${device.name}` : ""}`;
}

/** The moment that stands for a time: the highest one of the span around it. @param {number} ns */
export function momentAt(device, ns) {
  let at = 0;
  while (at + 1 < device.moments.length && device.moments[at + 1].from_ns <= ns) ++at;
  return at;
}

/** What rows of one call have in common, in whatever list they are. */
export const callKey = (row) => `${row.stack_number} ${row.api}`;

/** The frame that a row is called by: the innermost one of the program's own. */
export const ownFrame = (row) => row.stack[row.own] ?? row.stack[0];
const MOST_CHARACTERS = 160; // of a name in a list; where a call stack is shown, it is whole
const cut = (name) => (name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS - 1)}…` : name);
export const functionText = (row) => {
  const frame = ownFrame(row);
  return frame ? cut(shortFunction(frame.function)) : "(no call stack)";
};
export const wholeFunction = (row) => ownFrame(row)?.function ?? "";
export function placeText(frame) {
  if (!frame) return "";
  if (!frame.file) return frame.module ? cut(fileName(frame.module)) : "";
  return lineText({ file: cut(fileName(frame.file)), line: frame.line });
}
