// report/page/web/src/chart.js — the timeline of one device as uPlot draws it.
import uPlot from "uplot";
import { allocatedAtPeak, diff, highest, lineOf } from "./data.js";
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
const LABEL_ROOM = 64; // pixels between the names of two marks

const seconds = (ns) => ns.map((one) => one / 1e9);

/** What the driver said last holds until more or less is reserved; then it is not known, until it is asked again. */
function held(values, reserved) {
  let last = null;
  let reservedThen = 0;
  return values.map((value, at) => {
    if (value !== null) [last, reservedThen] = [value, reserved[at]];
    else if (reserved[at] !== reservedThen) last = null;
    return last;
  });
}

/** Where a line begins: of one that is short, this is all that is seen. */
const beginnings = (values) => values.flatMap((value, at) => (value !== null && values[at - 1] == null ? [at] : []));

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
    held(line.used, line.reserved),
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

function drawMarks(chart, device, shortages) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "top";
  let free = -Infinity;
  const line = (ns, stroke, dash) => {
    const x = chart.valToPos(ns / 1e9, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return null;
    ctx.strokeStyle = stroke;
    ctx.setLineDash(dash.map((length) => length * ratio));
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    return x;
  };
  for (const mark of device.process.marks) {
    const x = line(mark.ns, colour("mark"), [2, 4]);
    if (x === null || x < free || device.process.marks.length > 200) continue;
    ctx.fillStyle = colour("dim");
    const name = mark.name.length > 18 ? `${mark.name.slice(0, 17)}…` : mark.name;
    if (x + ctx.measureText(name).width < bbox.left + bbox.width) {
      ctx.fillText(name, x + 4 * ratio, bbox.top + 2 * ratio);
      free = x + Math.max(ctx.measureText(name).width + 10 * ratio, LABEL_ROOM * ratio);
    }
  }
  for (const shortage of shortages) {
    const x = line(shortage.at_ns, colour("bad"), []);
    if (x === null) continue;
    ctx.fillStyle = colour("bad");
    ctx.beginPath();
    ctx.moveTo(x - 5 * ratio, bbox.top);
    ctx.lineTo(x + 5 * ratio, bbox.top);
    ctx.lineTo(x, bbox.top + 8 * ratio);
    ctx.fill();
  }
  ctx.restore();
}

function drawPeak(chart, device) {
  const { ctx, bbox } = chart;
  const x = chart.valToPos(device.at_peak.ns / 1e9, "x", true);
  const y = chart.valToPos(allocatedAtPeak(device), "y", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.setLineDash([]);
  ctx.fillStyle = colour("accent");
  ctx.strokeStyle = colour("surface");
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.arc(x, y, 4.5 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  ctx.restore();
}

/** The moment that was picked, and the span of time that it stands for. */
function drawMoment(chart, moment) {
  if (!moment) return;
  const { ctx, bbox } = chart;
  const inside = (ns) =>
    Math.min(Math.max(chart.valToPos(ns / 1e9, "x", true), bbox.left), bbox.left + bbox.width);
  const [from, to, x] = [moment.from_ns, moment.to_ns, moment.ns].map(inside);
  ctx.save();
  ctx.fillStyle = colour("accent-soft");
  ctx.fillRect(from, bbox.top, Math.max(to - from, devicePixelRatio), bbox.height);
  ctx.strokeStyle = colour("text");
  ctx.setLineDash([]);
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

function pickOnClick(chart, onPick) {
  chart.over.addEventListener("click", () => {
    if (chart.cursor.left >= 0) onPick(chart.posToVal(chart.cursor.left, "x") * 1e9);
  });
}

/**
 * @param {HTMLElement} place
 * @param {{shortages: object[], selected: object | null, drawn: {current: object | null},
 *          onCursor: (index: number | null) => void, onPick: (ns: number) => void}} shown
 */
export function makeChart(place, device, { shortages, selected, drawn, onCursor, onPick }) {
  const axis = { stroke: colour("dim"), font: "11px system-ui, sans-serif", ticks: { show: false } };
  const series = (stroke, more) => ({ stroke, width: 1.5, paths: stepped, points: { show: false }, ...more });
  return new uPlot(
    {
      width: place.clientWidth,
      height: place.clientWidth < 520 ? 240 : 320,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, dist: 6 }, points: { size: 7 } },
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
        series(colour("accent"), {}),
        series("transparent", { fill: colour("accent-soft") }), // below the band of what came and went
        series(colour("reserved"), { width: 1.25 }),
        series(colour("used"), {
          width: 1.25,
          dash: [6, 4],
          show: hasUsed(device.timeline),
          points: { show: true, size: 4, filter: (chart, column) => beginnings(chart.data[column]) },
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
      bands: [{ series: [1, 2], fill: colour("accent-band") }],
      hooks: {
        ready: [(chart) => pickOnClick(chart, onPick)],
        draw: [
          (chart) => drawMoment(chart, drawn.current),
          (chart) => drawMarks(chart, device, shortages),
          (chart) => drawPeak(chart, device),
        ],
        setCursor: [(chart) => onCursor(chart.cursor.idx)],
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

export function lookAtAll(chart) {
  const times = chart.data[0];
  chart.setScale("x", { min: times[0], max: times.at(-1) });
}
