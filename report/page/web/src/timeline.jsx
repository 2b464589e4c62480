// report/page/web/src/timeline.jsx — each device's memory over time.
import { useEffect, useRef, useState } from "preact/hooks";
import { baseOf, chartData, hasPending, hasUsed, look, lookAtAll, makeChart } from "./chart.js";
import { allocatedAtPeak, devices, deviceText, functionText, highest, momentAt, report } from "./data.js";
import { HELD } from "./held.js";
import { Section } from "./parts.jsx";
import { AsTable } from "./table.jsx";
import { bytesText, counted, timesApart, timeText } from "./words.js";

const TABLE_ROWS = 400;
const KEYS = {
  ArrowLeft: (chart) => look(chart, -0.2, 1),
  ArrowRight: (chart) => look(chart, 0.2, 1),
  "+": (chart) => look(chart, 0, 0.5),
  "=": (chart) => look(chart, 0, 0.5),
  "-": (chart) => look(chart, 0, 2),
  0: lookAtAll,
  Home: lookAtAll,
};

function Legend({ device, selected, at }) {
  const columns = chartData(device, selected);
  const value = (column) =>
    at === null ? "" : columns[column][at] === null ? "–" : bytesText(columns[column][at]);
  const entries = [
    ["accent", "allocated", 1],
    ["reserved", "reserved", 3],
    ...(hasUsed(device.timeline) ? [["used", "used on the device, by all", 4]] : []),
    ...(hasPending(device.timeline) ? [["pending", "pending: freed, not safe to reuse", 5]] : []),
    ...(selected ? [["bad", `alive from ${functionText(selected)}`, 6]] : []),
    ...(baseOf(device) ? [["base", "allocated in the run before", 7]] : []),
  ];
  return (
    <ul class="legend">
      {entries.map(([name, text, column]) => (
        <li key={name}>
          <span class={`key ${name}`} aria-hidden="true" />
          <span class="label">{text}</span>
          <span class="number">{value(column)}</span>
        </li>
      ))}
      <li class="moment number">{at === null ? "" : timeText(Math.round(columns[0][at] * 1e9))}</li>
    </ul>
  );
}

/** Every so many points: the peak's own row is in the headline. */
function tableRows(device) {
  const line = device.timeline;
  const step = Math.ceil(line.ns.length / TABLE_ROWS);
  const starts = timesApart(line.ns.filter((_, at) => at % step === 0));
  const rows = [];
  for (let at = 0; at < line.ns.length; at += step) {
    const span = (values) => values.slice(at, at + step);
    rows.push([
      starts[at / step],
      bytesText(Math.max(...span(line.peak))),
      bytesText(Math.min(...span(line.least))),
      bytesText(Math.max(...span(line.peak_reserved))),
      bytesText(Math.max(...span(line.pending))),
      line.used[at] === null ? "–" : bytesText(line.used[at]),
    ]);
  }
  return rows;
}

function Moments({ device, shortages }) {
  const { marks, mark_count: count } = device.process;
  return (
    <div class="columns">
      {marks.length > 0 && (
        <AsTable
          caption={`${counted(count, "mark")} as a table`}
          columns={[["Time", "number"], ["Mark"]]}
          rows={() => marks.map((mark) => [timeText(mark.ns), mark.name])}
        />
      )}
      {shortages.length > 0 && (
        <AsTable
          caption="Failures for want of memory as a table"
          columns={[["Time", "number"], ["Wanted", "number"], ["At"]]}
          rows={() =>
            shortages.map((row) => [timeText(row.at_ns), bytesText(row.requested_bytes), functionText(row)])
          }
        />
      )}
    </div>
  );
}

function Chart({ device, selected, theme, shortages, moment, pick }) {
  const place = useRef(null);
  const chart = useRef(null);
  const drawn = useRef(null); // the moment, for the chart that was made before it was picked
  const [at, setAt] = useState(null);
  useEffect(() => {
    setAt(null);
    const onPick = (ns) => device.moments.length > 0 && pick(momentAt(device, ns));
    chart.current = makeChart(place.current, device, { shortages, selected, drawn, onCursor: setAt, onPick });
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
    drawn.current = moment;
    chart.current.redraw(false);
  }, [moment, device, selected, theme]);
  const onKey = (event) => {
    const act = !event.ctrlKey && !event.metaKey && KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act(chart.current);
  };
  const onWheel = (event) => {
    if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    const by = event.deltaY || event.deltaX;
    if (event.ctrlKey) look(chart.current, 0, by > 0 ? 1.25 : 0.8);
    else look(chart.current, Math.sign(by) * 0.1, 1);
  };
  const what = `Memory of ${deviceText(device)} over ${timeText(device.process.duration_ns)}: at most ${bytesText(
    allocatedAtPeak(device),
  )} allocated, at ${timeText(device.at_peak.ns)}. Keys: plus and minus zoom, arrows move, 0 shows all.`;
  return (
    <>
      <Legend device={device} selected={selected} at={at} />
      <div
        class="chart"
        ref={place}
        tabIndex={0}
        role="application"
        aria-label={what}
        onKeyDown={onKey}
        onWheel={onWheel}
      />
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
          Click to pick a moment, drag to zoom, double-click for all; ctrl or shift and the wheel zoom and
          move.
        </span>
      </div>
    </>
  );
}

/** What the call stacks and the leaks below are of: the whole run, or a moment of it. */
function MomentPicker({ device, moment, pick }) {
  const { moments } = device;
  if (moments.length === 0) return null;
  const at = moment ? moment.id : momentAt(device, device.at_peak.ns);
  return (
    <div class="picker">
      <label for="moment">Moment</label>
      <input
        id="moment"
        type="range"
        min="0"
        max={moments.length - 1}
        value={at}
        aria-valuetext={`${timeText(moments[at].ns)}, ${bytesText(moments[at].bytes)} alive`}
        onInput={(event) => pick(Number(event.currentTarget.value))}
      />
      <p class="about" role="status">
        {moment ? (
          <>
            At <strong>{timeText(moment.ns)}</strong>, <strong>{bytesText(moment.bytes)}</strong> were alive in{" "}
            {counted(moment.blocks, "block")}: the highest moment from {timeText(moment.from_ns)} to{" "}
            {timeText(moment.to_ns)}. <a href="#leaks">{HELD.part}</a> and <a href="#flame">call stacks</a> show it.
          </>
        ) : (
          `Pick one of ${moments.length} moments, here or in the chart: leaks and call stacks then show what was alive.`
        )}
      </p>
      {moment && (
        <button type="button" onClick={() => pick(null)}>
          Whole run
        </button>
      )}
    </div>
  );
}

export function Timeline({ selected, theme, moment, setMoment }) {
  const [device, setDevice] = useState(highest);
  if (!device || device.timeline.ns === undefined) return null;
  const pick = (at) => setMoment(at === null ? null : { device, ...device.moments[at] });
  const picked = moment?.device === device ? moment : null;
  const shortages = report.out_of_memory.filter(
    (row) => row.process === device.process.index && (row.device === null || row.device === device.device),
  );
  const shown = selected && selected.process === device.process.index ? selected : null;
  const choice = devices.length > 1 && (
    <select
      aria-label="Device"
      onChange={(event) => {
        setMoment(null);
        setDevice(devices[event.currentTarget.value]);
      }}
    >
      {devices.map((one, at) => (
        <option key={at} value={at} selected={one === device}>
          {deviceText(one)}
        </option>
      ))}
    </select>
  );
  return (
    <Section
      id="timeline"
      title="Timeline"
      tools={choice}
      about={`${deviceText(device)}. A column that stands for more than one event shows all heights between its least and its most.`}
    >
      <Chart
        device={device}
        selected={shown}
        theme={theme}
        shortages={shortages}
        moment={picked}
        pick={pick}
      />
      <MomentPicker device={device} moment={picked} pick={pick} />
      <AsTable
        caption="The timeline as a table"
        rows={() => tableRows(device)}
        columns={[
          ["From", "number"],
          ["Allocated, most", "number"],
          ["Least", "number"],
          ["Reserved, most", "number"],
          ["Pending", "number"],
          ["Used on device", "number"],
        ]}
      />
      <Moments device={device} shortages={shortages} />
    </Section>
  );
}
