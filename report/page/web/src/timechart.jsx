// report/page/web/src/timechart.jsx — the chart of a timeline, gone through with the mouse or by keys.
import { useEffect, useRef, useState } from "preact/hooks";
import { look, lookAtAll, makeChart, pointAt } from "./chart.js";
import { allocatedAtPeak, deviceText, momentAt } from "./data.js";
import { Legend, OwnersLegend, Readout } from "./legend.jsx";
import { stackedUp } from "./overlays.js";
import { ownersOverTime } from "./owners.jsx";
import { firstSpan, rangeOf } from "./range.jsx";
import { bytesText, timeText } from "./words.js";

const VIEW_KEYS = {
  "+": (chart) => look(chart, 0, 0.5),
  "=": (chart) => look(chart, 0, 0.5),
  "-": (chart) => look(chart, 0, 2),
  0: lookAtAll,
  Home: lookAtAll,
};

/** Whether it is known who had the memory then. */
const isKnown = (device, ns) => device.moments.length > 0 && ns >= (device.since_ns ?? 0);

/** What a point of the chart is: a span of the device's time, and the owner whose band is there; null: it is above all. */
function spanAndOwner(device, { ns, bytes }) {
  if (!isKnown(device, ns)) return null;
  const span = momentAt(device, ns);
  const above = stackedUp(ownersOverTime(device)[span]).findIndex((height) => height > bytes);
  return { span, owner: above > 0 ? above - 1 : null };
}

/** The point that a key leads to: the next span that way, or the next owner that has anything in it. */
function nextPoint(device, { span, owner }, key) {
  const bands = ownersOverTime(device);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const next = Math.min(Math.max(span + (key === "ArrowLeft" ? -1 : 1), 0), bands.length - 1);
    return { span: next, owner: bands[next][owner] > 0 ? owner : null };
  }
  const there = bands[span].flatMap((bytes, at) => (bytes > 0 ? [at] : []));
  const next = there.indexOf(owner) + (key === "ArrowUp" ? 1 : -1);
  return { span, owner: there[Math.min(Math.max(next, 0), there.length - 1)] ?? null };
}

/** The chart of a device, made again when it must be; what is chosen is drawn into it. */
function useChart(chart, place, { device, selected, theme, shortages, moment, range, acts }) {
  const chosen = useRef({ moment: null, range: null }); // for a chart that is made later
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const onPoint = (point) => latest.current.point(point?.at ?? null, point && spanAndOwner(device, point));
    const onPick = (ns) => isKnown(device, ns) && latest.current.pick(momentAt(device, ns));
    const onRange = (range) => latest.current.pickRange(range);
    latest.current.point(null, null);
    chart.current = makeChart(place.current, device, { shortages, selected, chosen, onPoint, onPick, onRange });
    const follow = new ResizeObserver(() => {
      if (place.current && Math.abs(place.current.clientWidth - chart.current.width) > 1)
        chart.current.setSize({ width: place.current.clientWidth, height: chart.current.height });
    });
    follow.observe(place.current);
    return () => {
      follow.disconnect();
      chart.current.destroy();
    };
  }, [device, selected, theme]);
  useEffect(() => {
    chosen.current = { moment, range };
    chart.current.redraw(false);
  }, [moment, range, device, selected, theme]);
}

/** What the arrow keys do: they go from span to span and from owner to owner; with shift they choose a range. */
function useArrows(chart, device, [point, setPoint], [range, pickRange]) {
  const anchor = useRef(null); // the span in which the range begins that is being chosen
  const goTo = (next) => {
    const moment = device.moments[next.span];
    const heights = stackedUp(ownersOverTime(device)[next.span]);
    const height = next.owner === null ? moment.bytes : (heights[next.owner] + heights[next.owner + 1]) / 2;
    setPoint(chart.current.valToIdx(moment.ns / 1e9), next);
    pointAt(chart.current, moment.ns, height);
  };
  return ({ key, shiftKey }) => {
    if (device.moments.length === 0) return;
    const here = point ?? { span: momentAt(device, device.at_peak.ns), owner: null };
    const next = point || shiftKey ? nextPoint(device, here, key) : here;
    if (shiftKey && (key === "ArrowLeft" || key === "ArrowRight") && device.moments.length > firstSpan(device)) {
      const begins = anchor.current === null || !range;
      if (begins) anchor.current = here.span;
      pickRange(rangeOf(device, anchor.current, next.span), begins); // "back" undoes all of its steps at once
    } else {
      anchor.current = null;
    }
    goTo(next);
  };
}

function onWheel(event, chart) {
  if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
  event.preventDefault();
  const by = event.deltaY || event.deltaX;
  if (event.ctrlKey) look(chart, 0, by > 0 ? 1.25 : 0.8);
  else look(chart, Math.sign(by) * 0.1, 1);
}

function Tools({ chart }) {
  return (
    <div class="chart-tools" role="group" aria-label="What is seen of the time">
      <button type="button" onClick={() => look(chart.current, 0, 0.5)} aria-label="Zoom in">
        +
      </button>
      <button type="button" onClick={() => look(chart.current, 0, 2)} aria-label="Zoom out">
        −
      </button>
      <button type="button" onClick={() => look(chart.current, -0.25, 1)} aria-label="Earlier">
        ←
      </button>
      <button type="button" onClick={() => look(chart.current, 0.25, 1)} aria-label="Later">
        →
      </button>
      <button type="button" onClick={() => lookAtAll(chart.current)}>
        All
      </button>
      <span class="about hint">
        Drag to choose a range, click to pick a moment, double-click for all of the time; ctrl or shift and the wheel
        zoom and move.
      </span>
    </div>
  );
}

export function TimeChart({ device, selected, theme, shortages, moment, range, pick, pickRange, chart }) {
  const place = useRef(null);
  const [{ at, point }, setPointed] = useState({ at: null, point: null });
  const setPoint = (at, point) => setPointed({ at, point });
  const acts = { pick, pickRange, point: setPoint };
  useChart(chart, place, { device, selected, theme, shortages, moment, range, acts });
  const onArrow = useArrows(chart, device, [point, setPoint], [range, pickRange]);
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (VIEW_KEYS[event.key]) VIEW_KEYS[event.key](chart.current);
    else if (event.key.startsWith("Arrow")) onArrow(event);
    else if (event.key === "Enter" && point) pick(point.span);
    else if (event.key === "Escape" && (range || moment)) pick(null);
    else return;
    event.preventDefault();
  };
  const what = `Memory of ${deviceText(device)} over ${timeText(device.process.duration_ns)}: at most ${bytesText(
    allocatedAtPeak(device),
  )} allocated, at ${timeText(device.at_peak.ns)}. Keys: arrows go through times and owners, with shift they choose a range, Enter picks a moment, Escape shows the whole run, plus and minus zoom, 0 shows all.`;
  return (
    <>
      <Legend device={device} selected={selected} at={at} />
      <Readout device={device} point={point} />
      <div
        class="chart"
        ref={place}
        tabIndex={0}
        role="application"
        aria-label={what}
        onKeyDown={onKey}
        onWheel={(event) => onWheel(event, chart.current)}
      />
      <OwnersLegend device={device} point={point} />
      <Tools chart={chart} />
    </>
  );
}
