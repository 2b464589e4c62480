// report/page/web/src/chart.js — the timeline of one device as uPlot draws it.
import uPlot from "uplot";
import { diff, highest, lineOf, momentAt } from "./data.js";
import { drawChosen, drawMarks, drawOwners, drawPeak } from "./overlays.js";
import { firstSpan, rangeOf } from "./range.jsx";
import { colour } from "./theme.js";
import { bytesText, timesApart } from "./words.js";

const stepped = uPlot.paths.stepped({ align: 1 });
const SPLITS = Array.from({ length: 50 }, (_, power) => 2 ** power);
/** What may lie between two times on the axis, in seconds: round in the words of a clock. */
const TIMES = [
  ...[9, 8, 7, 6, 5, 4, 3, 2, 1].flatMap((places) => [1, 2, 5].map((digit) => Number(`${digit}e-${places}`))),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800],
  ...[1, 2, 3, 6, 12, 24, 48, 120, 240, 480].map((hours) => 3600 * hours),
];

const seconds = (ns) => ns.map((one) => one / 1e9);

/**
 * What is used on the device by all: what the driver counted beyond what is reserved, when it was asked last, and what
 * is reserved now. Before it was asked first it is not known.
 */
function usedOverTime(values, reserved) {
  let beyond = null;
  return values.map((value, at) => {
    if (value !== null) beyond = value - reserved[at];
    return beyond === null ? null : Math.max(beyond + reserved[at], 0);
  });
}

/** Steps where a value is known, and nothing between: uPlot would draw their sides at the edges of what is not. */
function steppedWhereKnown(chart, column, from, to) {
  const stroke = new Path2D();
  const [times, values] = [chart.data[0], chart.data[column]];
  for (let at = from; at < to; ++at) {
    if (values[at] === null) continue;
    const [x, next] = [times[at], times[at + 1]].map((time) => chart.valToPos(time, "x", true));
    const y = chart.valToPos(values[at], "y", true);
    stroke.moveTo(x, y);
    stroke.lineTo(next, y);
    if (values[at + 1] !== null) stroke.lineTo(next, chart.valToPos(values[at + 1], "y", true));
  }
  return { stroke };
}

/** A value of another timeline at each of these times. */
function sampled(times, alive) {
  const [ns, bytes] = alive;
  let at = 0;
  return times.map((time) => {
    while (at < ns.length && ns[at] < time) ++at;
    return at < ns.length ? bytes[at] : (bytes[ns.length - 1] ?? null);
  });
}

export const hasUsed = (timeline) => timeline.used.some((value) => value !== null);
export const hasPending = (timeline) => timeline.pending.some((value) => value > 0);

/** The columns of a chart, times first. */
export function chartData(device, selected) {
  const { line } = device;
  const columns = [
    seconds(line.ns),
    line.peak,
    line.least,
    line.peak_reserved,
    usedOverTime(line.used, line.reserved),
    line.pending,
    selected ? sampled(line.ns, selected.alive) : line.ns.map(() => null),
  ];
  const base = baseOf(device);
  return base ? onOneAxis(columns, seconds(base.ns), base.peak) : [...columns, line.ns.map(() => null)];
}

const lineBefore = diff?.base.timeline ? lineOf(diff.base.timeline, diff.base.end_ns) : null;

/** The timeline of the run before, beside that of the device with the highest peak. */
export const baseOf = (device) => (device === highest ? lineBefore : null);

/** All columns, and one more of other times, at the times of both: a value holds until the next. */
function onOneAxis([times, ...columns], otherTimes, other) {
  const all = [...new Set([...times, ...otherTimes])].sort((a, b) => a - b);
  const stretched = (own, values) => {
    let at = -1;
    return all.map((time) => {
      while (at + 1 < own.length && own[at + 1] <= time) ++at;
      return at < 0 || time > own.at(-1) ? null : values[at];
    });
  };
  return [all, ...columns.map((values) => stretched(times, values)), stretched(otherTimes, other)];
}

const timeAt = (chart, left) => chart.posToVal(left, "x") * 1e9;

function pickOnClick(chart, onPick) {
  chart.over.addEventListener("click", () => {
    if (chart.cursor.left >= 0) onPick(timeAt(chart, chart.cursor.left));
  });
}

/** What was drawn over is a range: of the spans in which it begins and ends. */
function pickOnDrag(chart, device, onRange) {
  const { left, width } = chart.select;
  if (!(width > 0)) return;
  chart.setSelect({ left: 0, width: 0 }, false);
  if (device.moments.length <= firstSpan(device)) return;
  const [from, to] = [left, left + width].map((at) => momentAt(device, timeAt(chart, at)));
  onRange(rangeOf(device, from, to));
}

/** The column below the pointer, and its place; nothing: the pointer is elsewhere. */
const pointOf = (chart) =>
  chart.cursor.idx == null || chart.cursor.left < 0
    ? null
    : { at: chart.cursor.idx, ns: timeAt(chart, chart.cursor.left), bytes: chart.posToVal(chart.cursor.top, "y") };

/**
 * @param {HTMLElement} place
 * @param {{shortages: object[], selected: object | null, chosen: {current: {moment: object | null, range: object | null}},
 *          onPoint: (point: {at: number, ns: number, bytes: number} | null) => void, onPick: (ns: number) => void,
 *          onRange: (range: object) => void}} shown
 */
export function makeChart(place, device, { shortages, selected, chosen, onPoint, onPick, onRange }) {
  const axis = { stroke: colour("dim"), font: "11px system-ui, sans-serif", ticks: { show: false } };
  const series = (stroke, more) => ({ stroke, width: 1.5, paths: stepped, points: { show: false }, ...more });
  return new uPlot(
    {
      width: place.clientWidth,
      height: place.clientWidth < 520 ? 240 : 320,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: 6 }, points: { show: false } },
      scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.08] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 30,
          space: place.clientWidth < 520 ? 52 : 76,
          incrs: TIMES,
          values: (_, ticks) => timesApart(ticks.map((tick) => Math.round(tick * 1e9))),
        },
        {
          ...axis,
          grid: { stroke: colour("line"), width: 1 },
          size: 68,
          incrs: SPLITS,
          space: 44,
          values: (_, ticks) => ticks.map(bytesText),
        },
      ],
      series: [
        {},
        series(colour("text"), { width: 1 }),
        series("transparent"), // below the band of what came and went
        series(colour("reserved"), { width: 1.25 }),
        series(colour("used"), {
          width: 1.25,
          dash: [6, 4],
          show: hasUsed(device.timeline),
          paths: steppedWhereKnown,
        }),
        series(colour("pending"), { width: 1.25, show: hasPending(device.timeline) }),
        series(colour("bad"), { width: 2, show: selected !== null }),
        series(colour("text"), {
          width: 1,
          dash: [2, 3],
          paths: steppedWhereKnown,
          show: baseOf(device) !== null,
        }),
      ],
      bands: [{ series: [1, 2], fill: colour("band") }],
      hooks: {
        ready: [(chart) => pickOnClick(chart, onPick)],
        drawAxes: [(chart) => drawOwners(chart, device)],
        draw: [
          (chart) => drawChosen(chart, chosen.current),
          (chart) => drawMarks(chart, device, shortages),
          (chart) => drawPeak(chart, device),
        ],
        setCursor: [(chart) => onPoint(pointOf(chart))],
        setSelect: [(chart) => pickOnDrag(chart, device, onRange)],
      },
    },
    chartData(device, selected),
    place,
  );
}

/** Moves what is seen of the time: by a part of it, and to so much of it. */
export function look(chart, move, zoom) {
  const times = chart.data[0];
  const [first, last] = [times[0], times.at(-1)];
  const { min, max } = chart.scales.x;
  const width = Math.min((max - min) * zoom, last - first);
  const middle = (min + max) / 2 + move * (max - min);
  const left = Math.min(Math.max(middle - width / 2, first), last - width);
  if (width > 0) chart.setScale("x", { min: left, max: left + width });
}

/** @param {{from_ns: number, to_ns: number}} range */
export const lookAt = (chart, { from_ns, to_ns }) => chart.setScale("x", { min: from_ns / 1e9, max: to_ns / 1e9 });

/** Puts the cursor to a time and a height; what is not seen is moved to. */
export function pointAt(chart, ns, bytes) {
  const { min, max } = chart.scales.x;
  const middle = (min + max) / 2;
  if (ns / 1e9 < min || ns / 1e9 > max) look(chart, (ns / 1e9 - middle) / (max - min), 1);
  requestAnimationFrame(() =>
    chart.setCursor({ left: chart.valToPos(ns / 1e9, "x"), top: chart.valToPos(bytes, "y") }, false),
  );
}

export function lookAtAll(chart) {
  const times = chart.data[0];
  chart.setScale("x", { min: times[0], max: times.at(-1) });
}
