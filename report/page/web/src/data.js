// report/page/web/src/data.js — the page's data, from columns and numbers of texts back to rows.

import { fileName, shortFunction } from "./words.js";

const raw = JSON.parse(document.getElementById("data").textContent);

/** Columns whose numbers are those of texts. */
const TEXTS = new Set([
  "kind",
  "class",
  "memory",
  "phase",
  "other_phase",
  "per",
  "api",
  "name",
  "remedy",
  "map",
  "result",
  "text",
  "key",
  "value",
  "verdict",
  "change",
  "budget",
  "measured",
  "limit",
  "state",
  "words",
  "why",
  "about",
]);

const text = (number) => raw.strings[number] ?? "";
const asText = (value) => (typeof value === "number" ? text(value) : value);

/**
 * @typedef {{function: string, file: string, line: number, module: string, inlined: number,
 *            library: number, python: number}} Frame
 * @type {Frame[]}
 */
const frames =
  lengthOf(raw.frames) === 0
    ? []
    : raw.frames.function.map((name, at) => ({
        function: text(name),
        file: text(raw.frames.file[at]),
        line: raw.frames.line[at],
        module: text(raw.frames.module[at]),
        inlined: raw.frames.inlined[at],
        library: raw.frames.library[at],
        python: raw.frames.python[at],
      }));

const stacks = []; // those that were asked for
const stackOf = (number) => (stacks[number] ??= raw.stacks[number].map((frame) => frames[frame]));

function lengthOf(columns) {
  const first = columns && Object.values(columns)[0];
  return first ? first.length : 0;
}

/** Rows of columns: {"bytes": [1, 2]} is [{bytes: 1}, {bytes: 2}]. A stack becomes its frames. */
export function rowsOf(columns) {
  const rows = [];
  const names = Object.keys(columns ?? {});
  for (let at = 0; at < lengthOf(columns); ++at) {
    const row = { id: at };
    for (const name of names) row[name] = TEXTS.has(name) ? asText(columns[name][at]) : columns[name][at];
    if (typeof row.stack === "number") {
      row.call = `${row.stack} ${row.api}`; // what rows of one call have in common
      row.stack = stackOf(row.stack);
    }
    rows.push(row);
  }
  return rows;
}

/**
 * The points of a timeline are spans of time with a height from `least` to `peak`. Where nothing happened
 * behind one for a while, and at the end of the log, what it left holds: that is a point more.
 */
function lineOf(timeline, end) {
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

/** What is made when it is first asked for: most of a long page is not looked at. */
function later(make) {
  let made;
  return () => (made ??= make());
}

/** The moments of a device, each with its span of time, and what was alive then. */
function momentsOf({ stacks: columns, moments }, process) {
  const places = later(() => rowsOf(columns));
  const rows = rowsOf(moments);
  return rows.map((moment, at) => ({
    ...moment,
    to_ns: rows[at + 1]?.from_ns ?? Math.max(process.duration_ns, moment.ns),
    rows: () =>
      moment.stacks.map((stack, part) => ({
        ...places()[stack],
        bytes: moment.stack_bytes[part],
        blocks: moment.stack_blocks[part],
      })),
  }));
}

function mapOf(map) {
  const owners = later(() => rowsOf(map.owners));
  return {
    ...map,
    of: text(map.of),
    segments: rowsOf(map.segments),
    get owners() {
      return owners();
    },
  };
}

function deviceOf(device, process) {
  return {
    ...device,
    process,
    line: lineOf(device.timeline, process.duration_ns),
    name: text(device.name),
    moments: momentsOf(device.compositions, process),
    maps: device.maps.map(mapOf),
    peak: {
      ...device.peak,
      stacks: rowsOf(device.peak.stacks),
      modules: rowsOf(device.peak.modules),
      phases: rowsOf(device.peak.phases),
    },
    advice: rowsOf(device.advice),
  };
}

function processOf(process, index) {
  const made = {
    ...process,
    index,
    program: text(process.program),
    command: text(process.command),
    log: text(process.log),
    started: text(process.started),
    end: text(process.end),
    step_name: text(process.step_name),
    pool: text(process.pool),
    marks: rowsOf(process.marks),
    crashed_in: rowsOf(process.crashed_in),
    tests: rowsOf(process.tests).map((test) => ({ ...test, process: index, leaks: rowsOf(test.leaks) })),
    environment: rowsOf(process.environment),
    churn: {
      ...process.churn,
      sizes: rowsOf(process.churn.sizes),
      lifetimes: rowsOf(process.churn.lifetimes),
      sites: rowsOf(process.churn.sites),
    },
  };
  made.devices = process.devices.map((device) => deviceOf(device, made));
  return made;
}

function comparedOf(compared) {
  if (!compared) return null;
  const { base } = compared;
  return {
    ...compared,
    reasons: rowsOf(compared.reasons).map((row) => row.text),
    numbers: rowsOf(compared.numbers),
    leaks: rowsOf(compared.leaks),
    peak: rowsOf(compared.peak),
    churn: rowsOf(compared.churn),
    line: base.timeline ? lineOf(base.timeline, base.end_ns) : null,
  };
}

function checkedOf(checked) {
  if (!checked) return null;
  return {
    ...checked,
    rows: rowsOf(checked.rows),
    doubts: rowsOf(checked.doubts).map((row) => row.text),
    stateOf: new Map(rowsOf(checked.tests).map((row) => [`${row.process} ${row.test}`, row.state])),
  };
}

const shortages = rowsOf(raw.shortages).map((row) => ({ ...row, owners: rowsOf(row.owners) }));

export const report = {
  ...raw,
  reasons: rowsOf(raw.reasons).map((row) => row.text),
  notes: rowsOf(raw.notes).map((row) => row.text),
  leaks: rowsOf(raw.leaks),
  imports: rowsOf(raw.imports),
  owners: rowsOf(raw.owners),
  suppressed: rowsOf(raw.suppressed),
  growth: rowsOf(raw.growth),
  misuse: rowsOf(raw.misuse),
  shortages,
  ranks: rowsOf(raw.ranks),
  processes: raw.processes.map(processOf),
  compared: comparedOf(raw.compared),
  checked: checkedOf(raw.checked),
};

function plannedDeviceOf(device) {
  return {
    ...device,
    program: text(device.program),
    log: text(device.log),
    allocator: text(device.allocator),
    policies: rowsOf(device.policies),
    shortages: rowsOf(device.shortages).map((row) => ({ ...row, room: rowsOf(row.room) })),
    holders: rowsOf(device.holders),
    savings: rowsOf(device.savings),
    sharing: rowsOf(device.sharing).map((row) => ({ ...row, pair: rowsOf(row.pair) })),
    packing: device.packing && { ...device.packing, method: text(device.packing.method) },
    pins_at_peak: rowsOf(device.pins_at_peak),
    pins_at_end: rowsOf(device.pins_at_end),
  };
}

function scaleOf(scale) {
  const line = (one) => ({ ...one, words: text(one.words) });
  return {
    ...scale,
    dimension: text(scale.dimension),
    live_line: line(scale.live_line),
    card_line: line(scale.card_line),
    stacks: rowsOf(scale.stacks),
    cards: rowsOf(scale.cards),
  };
}

function planOf(planned) {
  const devices = planned.devices.map(plannedDeviceOf);
  const device = planned.answer && devices[planned.answer.device];
  return {
    ...planned,
    devices,
    answer: device && {
      ...planned.answer,
      device,
      judged: device.policies[0],
      best: device.policies[planned.answer.best] ?? null,
    },
    scale: planned.scale && scaleOf(planned.scale),
    unknown: rowsOf(planned.unknown),
  };
}

/** A plan is a page of its own: its report has no processes. */
export const plan = raw.plan ? planOf(raw.plan) : null;

/** Every device of every process, that with the highest peak first of all to look at. */
export const devices = report.processes.flatMap((process) => process.devices);
export const highest = devices.reduce(
  (best, one) => (one.at_peak.allocated > best.at_peak.allocated ? one : best),
  devices[0],
);

const rankOf = new Map(report.ranks.map((row) => [row.process, row.rank]));
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
  if (!frame.file) return cut(frame.module);
  const file = cut(fileName(frame.file));
  return frame.line > 0 ? `${file}:${frame.line}` : file;
}
