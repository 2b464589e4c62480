// report/page/web/src/timeline.jsx — each device's memory over time.
import { useEffect, useRef, useState } from "preact/hooks";
import { bytesCell, noCell, placeCell, timeCell } from "./cells.jsx";
import { lookAt } from "./chart.js";
import { devices, deviceText, highest, report } from "./data.js";
import { Section } from "./parts.jsx";
import { MomentPicker, RangePicker } from "./picker.jsx";
import { AsTable } from "./table.jsx";
import { TimeChart } from "./timechart.jsx";
import { counted, timesApart, timeText } from "./words.js";

const TABLE_ROWS = 400;

/** Every so many points: the peak's own row is in the headline. */
function tableRows(device) {
  const line = device.timeline;
  const step = Math.ceil(line.ns.length / TABLE_ROWS);
  const starts = line.ns.filter((_, at) => at % step === 0);
  const texts = timesApart(starts);
  const rows = [];
  for (let at = 0; at < line.ns.length; at += step) {
    const span = (values) => values.slice(at, at + step);
    rows.push([
      { ...timeCell(starts[at / step]), text: texts[at / step] },
      bytesCell(Math.max(...span(line.peak))),
      bytesCell(Math.min(...span(line.least))),
      bytesCell(Math.max(...span(line.peak_reserved))),
      bytesCell(Math.max(...span(line.pending))),
      line.used[at] === null ? noCell() : bytesCell(line.used[at]),
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
          rows={() => marks.map((mark) => [timeCell(mark.ns), mark.name])}
        />
      )}
      {shortages.length > 0 && (
        <AsTable
          caption="Failures for want of memory as a table"
          columns={[["Time", "number"], ["Wanted", "number"], ["At"]]}
          rows={() =>
            shortages.map((row) => [timeCell(row.at_ns), bytesCell(row.requested_bytes), placeCell(row)])
          }
        />
      )}
    </div>
  );
}

const aboutText = (device) =>
  [
    `${deviceText(device)}. The line is what was allocated; what came and went within a column is light.`,
    `The areas are who had it, at the highest moment of each of ${counted(device.moments.length, "span")} of time.`,
    ...(device.since_ns === null
      ? []
      : [
          `The log was collected: who had the memory is known from ${timeText(device.since_ns)} on; of the time before, at peaks, marks and failures alone.`,
        ]),
  ].join(" ");

export function Timeline({ selected, theme, moment, setMoment, range, setRange }) {
  const [device, setDevice] = useState(highest);
  const chart = useRef(null);
  useEffect(() => {
    if (range ?? moment) setDevice((range ?? moment).device);
  }, [range, moment]);
  if (!device || device.timeline.ns === undefined) return null;
  const pick = (at) => setMoment(at === null ? null : { device, ...device.moments[at] });
  const picked = moment?.device === device ? moment : null;
  const ranged = range?.device === device ? range : null;
  const shortages = report.out_of_memory.filter(
    (row) => row.process === device.process.index && (row.device === null || row.device === device.device),
  );
  const shown = selected && selected.process === device.process.index ? selected : null;
  const choice = devices.length > 1 && (
    <select
      aria-label="Device"
      onChange={(event) => {
        if (range ?? moment) setMoment(null);
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
      about={aboutText(device)}
    >
      <TimeChart
        device={device}
        selected={shown}
        theme={theme}
        shortages={shortages}
        moment={picked}
        range={ranged}
        pick={pick}
        pickRange={setRange}
        chart={chart}
      />
      {ranged ? (
        <RangePicker range={ranged} setRange={setRange} lookAt={() => lookAt(chart.current, ranged)} />
      ) : (
        <MomentPicker device={device} moment={picked} pick={pick} setRange={setRange} />
      )}
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
