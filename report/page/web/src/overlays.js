// report/page/web/src/overlays.js — what is drawn on the chart of a timeline beside its lines.
import { allocatedAtPeak } from "./data.js";
import { owners, ownersOverTime } from "./owners.jsx";
import { colour } from "./theme.js";

const LABEL_ROOM = 64; // pixels between the names of two marks

export function drawMarks(chart, device, shortages) {
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

export function drawPeak(chart, device) {
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

/** A column of the chart from one time to another, as far as it is seen: [its left side, its width]. */
function columnOf({ bbox, valToPos }, from_ns, to_ns) {
  const [from, to] = [from_ns, to_ns].map((ns) =>
    Math.min(Math.max(valToPos(ns / 1e9, "x", true), bbox.left), bbox.left + bbox.width),
  );
  return [from, Math.max(to - from, devicePixelRatio)];
}

function drawLines({ ctx, bbox }, places) {
  ctx.strokeStyle = colour("text");
  ctx.setLineDash([]);
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.beginPath();
  for (const x of places) {
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
}

/** The moment that was picked, and the span of time that it stands for. */
function drawMoment(chart, moment) {
  const { ctx, bbox } = chart;
  const [left, width] = columnOf(chart, moment.from_ns, moment.to_ns);
  ctx.fillStyle = colour("accent-soft");
  ctx.fillRect(left, bbox.top, width, bbox.height);
  drawLines(chart, [columnOf(chart, moment.ns, moment.ns)[0]]);
}

/** The range that was chosen: all else is veiled. */
function drawRange(chart, range) {
  const { ctx, bbox } = chart;
  const [left, width] = columnOf(chart, range.from_ns, range.to_ns);
  ctx.fillStyle = colour("veil");
  ctx.fillRect(bbox.left, bbox.top, left - bbox.left, bbox.height);
  ctx.fillRect(left + width, bbox.top, bbox.left + bbox.width - left - width, bbox.height);
  drawLines(chart, [left, left + width]);
}

export function drawChosen(chart, { moment, range }) {
  chart.ctx.save();
  if (range) drawRange(chart, range);
  else if (moment) drawMoment(chart, moment);
  chart.ctx.restore();
}

/** Who had how much: of each span what was alive at its highest moment, those below that had much for long. */
export function drawOwners(chart, device) {
  const { ctx, bbox } = chart;
  const sides = device.moments.map((moment) => {
    const [left, width] = columnOf(chart, moment.from_ns, moment.to_ns);
    return [Math.round(left), Math.round(left + width)];
  });
  const heights = ownersOverTime(device).map(stackedUp);
  const y = (bytes) => Math.round(chart.valToPos(bytes, "y", true));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = 0.8; // what is drawn over it is to be seen
  owners.forEach(({ colour: name }, owner) => {
    ctx.fillStyle = colour(name);
    ctx.beginPath();
    sides.forEach(([left, right], at) => {
      const [bottom, top] = [y(heights[at][owner]), y(heights[at][owner + 1])];
      if (top < bottom && right > left) ctx.rect(left, top, right - left, bottom - top);
    });
    ctx.fill();
  });
  ctx.restore();
}

/** Where each band begins, and the last one ends. @param {number[]} bands */
export function stackedUp(bands) {
  const heights = [0];
  for (const bytes of bands) heights.push(heights.at(-1) + bytes);
  return heights;
}
