// report/page/web/src/range.jsx — a range of time: what came in it, what outlived it, what left.
//
// A range is a run of a device's spans. Of each call stack the page has sums of the blocks that came in one span and
// left in another, so that what is said of a range is exact. Small call stacks are told of together. The host's memory
// has spans of its own: of a device's range those are told that it touches, with their times.
import { callKey, devices, deviceText, report } from "./data.js";
import { bytesText, counted, timeText } from "./words.js";

const SMALLER = { function: "(smaller call stacks)", file: "", module: "", line: 0, library: 1 };

/** The first span that a range may have: what was there when a log was collected came in none that is known. */
export const firstSpan = (device) => (device.since_ns === null ? 0 : 1);

/** From the span `one` to the span `other` of a device, in whatever order. */
export function rangeOf(device, one, other) {
  const first = firstSpan(device);
  const last = device.moments.length - 1;
  const [from, to] = [one, other].map((at) => Math.min(Math.max(at, first), last)).sort((a, b) => a - b);
  return { device, from, to, from_ns: device.moments[from].from_ns, to_ns: device.moments[to].to_ns };
}

/** The same time in the spans of the host's memory; null: nothing was there by then. */
export function hostRange({ device, from_ns, to_ns }) {
  const { host } = device.process;
  if (!host || (host.moments[firstSpan(host)]?.from_ns ?? Infinity) >= to_ns) return null;
  const before = (ns) => host.moments.filter((moment) => moment.from_ns < ns).length - 1;
  return rangeOf(host, before(from_ns + 1), before(to_ns));
}

/** "1.4-9": of the second device, from the fifth span to the tenth; as it stands in the address. */
export const RANGE = {
  text: ({ device, from, to }) => `${devices.indexOf(device)}.${from}-${to}`,
  value(text) {
    const [device, from, to] = (text.match(/^(\d+)\.(\d+)-(\d+)$/) ?? []).slice(1).map(Number);
    const spans = devices[device]?.moments.length ?? 0;
    return from < spans && to < spans && to >= firstSpan(devices[device]) ? rangeOf(devices[device], from, to) : undefined;
  },
};

export const rangeText = ({ from_ns, to_ns }) => `${timeText(from_ns)} to ${timeText(to_ns)}`;

/** The highest moment in it. */
export const highestIn = ({ device, from, to }) =>
  device.moments.slice(from, to + 1).reduce((best, one) => (one.bytes > best.bytes ? one : best));

/** Which blocks are meant, by the spans in which they came and left. */
const came = ({ from, to }) => (born) => born >= from && born <= to;
const TAKES = {
  kept: (range) => (born, left) => came(range)(born) && left > range.to,
  alive: ({ to }) => (born, left) => born <= to && left > to,
  left: (range) => (_, left) => came(range)(left),
  allocated: came,
};

function sumOf({ born, left, blocks, bytes }, takes) {
  const sum = { bytes: 0, blocks: 0 };
  for (let at = 0; at < born.length; ++at) {
    if (!takes(born[at], left[at])) continue;
    sum.bytes += bytes[at];
    sum.blocks += blocks[at];
  }
  return sum;
}

/** {bytes, blocks} of all. @param {keyof TAKES} name */
export const sumIn = (range, name) => sumOf(range.device.lives, TAKES[name](range));

/** By call stack; those that are not told apart are the last row. @param {keyof TAKES} name */
export function rowsIn(range, name) {
  const takes = TAKES[name](range);
  const rows = range.device.places
    .filter(({ lives }) => lives !== null)
    .map((place) => ({ ...place, ...sumOf(place.lives, takes) }))
    .filter(({ bytes }) => bytes > 0);
  return withRest(rows, sumOf(range.device.lives, takes).bytes);
}

function withRest(rows, all) {
  const rest = all - rows.reduce((sum, row) => sum + row.bytes, 0);
  return rest > 0 ? [...rows, { bytes: rest, stack: [SMALLER], own: 0 }] : rows;
}

const restText = (rows) => {
  const rest = rows.at(-1)?.stack[0] === SMALLER ? rows.at(-1).bytes : 0;
  return rest > 0 ? ` ${bytesText(rest)} are of smaller call stacks, which are not told apart.` : "";
};

const kindOf = (title, about, rows) => ({
  title,
  rows,
  value: (row) => row.bytes,
  text: bytesText,
  about: `${about}${restText(rows)}`,
});

/** What the call stacks show of a moment: all that was alive. */
const kindOfMoment = (moment) =>
  kindOf(
    `At ${timeText(moment.ns)}`,
    `Bytes that were alive at ${timeText(moment.ns)} on ${deviceText(moment.device)}, the highest moment from ${timeText(
      moment.from_ns,
    )} to ${timeText(moment.to_ns)}.`,
    withRest(moment.rows(), moment.bytes),
  );

function kindsOfHost(range) {
  const [from, to] = [timeText(range.from_ns), timeText(range.to_ns)];
  return [
    ["host-kept", kindOf("Host, kept", `Bytes of host memory that were allocated from ${from} to ${to}, and were alive at its end.`, rowsIn(range, "kept"))],
    ["host-alive", kindOf("Host, at its end", `Bytes of host memory that were alive at ${to}.`, rowsIn(range, "alive"))],
  ];
}

function kindsOfRange(range) {
  const [from, to] = [timeText(range.from_ns), timeText(range.to_ns)];
  const during = `from ${from} to ${to} on ${deviceText(range.device)}`;
  const top = highestIn(range);
  const host = hostRange(range);
  const kinds = {
    kept: ["New and kept", `Bytes that were allocated ${during}, and were alive at its end.`],
    alive: ["At its end", `Bytes that were alive at ${to} on ${deviceText(range.device)}.`],
    left: ["Freed in it", `Bytes that were freed ${during}, whenever they were allocated.`],
    allocated: ["All new", `Bytes of all allocations ${during}, freed or not.`],
  };
  const peak = `Bytes that were alive at ${timeText(top.ns)}, the highest moment ${during}.`;
  return [
    ...Object.entries(kinds).map(([name, [title, about]]) => [name, kindOf(title, about, rowsIn(range, name))]),
    ["top", kindOf("Its peak", peak, withRest(top.rows(), top.bytes))],
    ...(host ? kindsOfHost(host) : []),
  ].filter(([, { rows }]) => rows.length > 0);
}

/** What the call stacks show of the time that was chosen: [name, kind], what is asked for most first. */
export function kindsThen(moment, range) {
  if (range) return kindsOfRange(range);
  return moment ? [["then", kindOfMoment(moment)]] : [];
}

const keyOf = (row) => `${callKey(row)} ${row.memory}`;

const HOST = ["pinned", "registered"];
const isIn = ({ process, device }) => (leak) =>
  leak.process === process.index && (device === undefined ? HOST.includes(leak.memory) : leak.device === device && !HOST.includes(leak.memory));

const ofPlaces = new WeakMap();

/** [leak, what it is known by; null: others are known by the same] of a device or the host: no range changes them. */
function leaksOf(place) {
  if (!ofPlaces.has(place)) {
    const leaks = report.leaks.filter(isIn(place));
    const keys = leaks.map(keyOf);
    const times = new Map();
    for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
    ofPlaces.set(place, leaks.map((leak, at) => [leak, times.get(keys[at]) === 1 ? keys[at] : null]));
  }
  return ofPlaces.get(place);
}

function partsOfLeaks(range) {
  const { device, from_ns: from, to_ns: to } = range;
  const takes = (born, left) => came(range)(born) && left === device.moments.length;
  const told = new Map(device.places.map((place) => [keyOf(place), place.lives && sumOf(place.lives, takes).bytes]));
  const partOf = ([leak, key]) => {
    const known = key === null ? null : told.get(key);
    if (known != null) return known;
    // Within one ns a span may begin and a block may come.
    if (leak.last_ns < from || leak.first_ns > to) return 0;
    return leak.first_ns > from && leak.last_ns < to ? leak.bytes : null;
  };
  return leaksOf(device).map((one) => [one[0], partOf(one)]);
}

/** The part of each leak that was allocated in the range; null: it is not known, as of one of several with one call. */
export function leakedIn(range) {
  const host = hostRange(range);
  return new Map([...partsOfLeaks(range), ...(host ? partsOfLeaks(host) : [])]);
}

/** What a range says of itself. */
export function rangeSentence(range) {
  const [kept, alive, left, allocated] = ["kept", "alive", "left", "allocated"].map((name) => sumIn(range, name));
  return `${bytesText(allocated.bytes)} were allocated in ${counted(allocated.blocks, "block")}, ${bytesText(
    left.bytes,
  )} freed; at its end ${bytesText(alive.bytes)} were alive, ${bytesText(kept.bytes)} of them new.`;
}

/** The same of the host's memory; empty: there was none. */
export function hostSentence(range) {
  const host = hostRange(range);
  return host ? ` Host memory, ${rangeText(host)}: ${rangeSentence(host)}` : "";
}

/** Lists of the report's histograms, of a range alone. @returns {{sizes: object[], lifetimes: object[]}} */
export function histogramsIn({ device, from, to }) {
  const sizes = Array.from({ length: 65 }, (_, bits) => ({ from_bytes: bits && 2 ** (bits - 1), blocks: 0, bytes: 0 }));
  const lifetimes = device.process.churn.lifetimes.map(({ below_ns }) => ({ below_ns, blocks: 0 }));
  for (const moment of device.moments.slice(from, to + 1)) {
    moment.sizes.forEach((bits, at) => (sizes[bits].blocks += moment.size_blocks[at]));
    lifetimes.forEach((bin, at) => (bin.blocks += moment.lifetimes[at] ?? 0));
  }
  return { sizes, lifetimes };
}
