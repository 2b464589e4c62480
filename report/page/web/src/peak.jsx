// report/page/web/src/peak.jsx — what a device's memory was made of at a moment, and which calls had it.
import { useEffect, useState } from "preact/hooks";
import { tellApart } from "./apart.js";
import { bytesCell, countCell, noCell, placeCell, shareCell } from "./cells.jsx";
import { devices, deviceText, highest } from "./data.js";
import { Allocators, Holders, Marks, Parts } from "./holders.jsx";
import { Mempools } from "./mempools.jsx";
import { Choice, Section } from "./parts.jsx";
import { highestIn, rangeText } from "./range.jsx";
import { Table } from "./table.jsx";
import { bytesText, counted, percentText, timeText } from "./words.js";

const MOMENTS = [
  ["at_peak", "Peak"],
  ["at_reserved_peak", "Most reserved"],
  ["at_end", "End"],
];

/** From what the driver counts down to what the program asked for: [name, part, is a sum, what it is]. */
function steps(moment) {
  const rows = [];
  let top = moment.device_used ?? moment.reserved;
  const sum = (name, bytes, about) => {
    rows.push({ name, bytes, from: 0, sum: true, about });
    top = bytes;
  };
  const part = (name, bytes, about) => {
    if (!(bytes > 0)) return;
    top -= bytes;
    rows.push({ name, bytes, from: top, sum: false, about });
  };
  if (moment.device_used !== null) {
    sum(
      "used on the device",
      moment.device_used,
      "by all processes: reserved, and what else the driver counted when it was last asked",
    );
    part("contexts", moment.contexts, "what the driver was seen to take for contexts");
    part("streams and code", moment.objects, "what it was seen to take for streams, executable graphs, modules and libraries");
    part(
      "not this program's blocks",
      moment.unattributed - (moment.contexts ?? 0) - (moment.objects ?? 0),
      "other processes, first contexts, the driver's rounding",
    );
  }
  sum("reserved", moment.reserved, "what the program and the pool hold of the driver");
  part("releasable", moment.releasable, "whole segments without a block");
  part("stuck", moment.stuck, "free pieces of segments that hold a block");
  part("pending", moment.pending, "freed, not safe to hand out again yet");
  part("kept by allocators", moment.kept, "of the program's own, beside the blocks they cut");
  sum("allocated", moment.allocated, "live blocks, as they were rounded up");
  part("rounding", moment.internal, "what blocks are larger than was asked for");
  sum("requested", moment.requested, "what the program asked for");
  return rows;
}

function Waterfall({ moment }) {
  const rows = steps(moment);
  const most = Math.max(...rows.map((row) => row.bytes + row.from), 1);
  return (
    <table class="waterfall">
      <caption class="hidden">From what is used on the device down to what was requested</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">Part</th>
          <th scope="col">Drawn</th>
          <th scope="col">Bytes</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name} class={row.sum ? "sum" : ""}>
            <th scope="row" title={row.about}>
              {row.name}
              <span class="dim">{row.about}</span>
            </th>
            <td class="fall">
              <span style={{ left: `${(100 * row.from) / most}%`, width: `${(100 * row.bytes) / most}%` }} />
            </td>
            <td class="number">{bytesText(row.bytes)}</td>
            <td class="number dim">{percentText(row.bytes, most)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MOST_ROWS = 100;
const ADVICE = {
  "never-freed": "is never freed",
  "released-late": "could be freed earlier",
  "allocated-early": "could be allocated later",
  "grow-by-copy": "grew by copy: the old block lived beside the new one",
};

function adviceText(row) {
  if (row.kind === "redundant-pairs")
    return `is freed and allocated again ${counted(row.blocks, "time")}, always ${bytesText(row.block_bytes)}`;
  return `${ADVICE[row.kind] ?? row.kind}${row.other_phase ? `: it waits for ${row.other_phase}` : ""}`;
}

function Advice({ device }) {
  const rows = tellApart(device.advice);
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h3>What the peak could do without</h3>
      <Table
        caption="By the times of allocations and frees; what uses memory is not seen"
        columns={[["Saves", "number"], ["What", "where"]]}
        rows={rows.map((row) => [
          row.saving_bytes > 0 ? bytesCell(row.saving_bytes) : noCell("calls"),
          placeCell(row, { after: ` ${adviceText(row)}` }),
        ])}
      />
    </div>
  );
}

function Holding({ title, caption, rows, whole, more }) {
  const left = Math.max(rows.length - MOST_ROWS, 0) + more;
  return (
    <div class="panel">
      <h3>{title}</h3>
      <Table
        caption={caption}
        columns={[["Bytes", "number"], ["Share", "number wide"], ["Blocks", "number"], ["Where", "where"]]}
        rows={tellApart(rows).slice(0, MOST_ROWS).map((row) => [
          bytesCell(row.bytes),
          shareCell(row.bytes, whole),
          countCell(row.blocks),
          placeCell(row),
        ])}
      />
      {left > 0 && <p class="about">{counted(left, "smaller call stack")} more.</p>}
    </div>
  );
}

/** Of the highest moment of a range only the call stacks are known. */
function OfRange({ range }) {
  const top = highestIn(range);
  return (
    <div class="panels">
      <Holding
        title={`Who had the most from ${rangeText(range)}: ${bytesText(top.bytes)} at ${timeText(top.ns)}`}
        caption="Call stacks at the highest moment of the range"
        rows={top.rows()}
        whole={top.bytes}
        more={0}
      />
    </div>
  );
}

export function Peak({ range }) {
  const [device, setDevice] = useState(highest);
  const [chosen, setMoment] = useState("at_peak");
  useEffect(() => {
    if (range) setDevice(range.device);
    setMoment(range ? "range" : "at_peak");
  }, [range]);
  if (!device) return null;
  const ranged = range?.device === device;
  const moment = chosen === "range" && !ranged ? "at_peak" : chosen;
  const tools = (
    <>
      {devices.length > 1 && (
        <select
          aria-label="Device of the peak"
          onChange={(event) => setDevice(devices[event.currentTarget.value])}
        >
          {devices.map((one, at) => (
            <option key={at} value={at} selected={one === device}>
              {deviceText(one)}
            </option>
          ))}
        </select>
      )}
      <Choice
        label="Moment"
        options={ranged ? [["range", "In the range"], ...MOMENTS] : MOMENTS}
        value={moment}
        onChange={setMoment}
      />
    </>
  );
  if (moment === "range")
    return (
      <Section
        id="peak"
        title="What the memory was made of"
        tools={tools}
        about={`${deviceText(device)}. Of a range its highest moment is known, by call stack; in all parts the memory is known at its peaks and at the end.`}
      >
        <OfRange range={range} />
      </Section>
    );
  const { peak } = device;
  return (
    <Section
      id="peak"
      title="What the memory was made of"
      tools={tools}
      about={`${deviceText(device)}, at ${timeText(device[moment].ns)}. The parts add up exactly.`}
    >
      <Waterfall moment={device[moment].waterfall} />
      <div class="panels">
        <Holding
          title="Who had the peak"
          caption="Call stacks at the peak"
          rows={peak.stacks}
          whole={peak.bytes}
          more={peak.more.stacks}
        />
        <Advice device={device} />
        <Holders device={device} />
        <Parts peak={peak} />
        <Allocators device={device} />
        <Mempools rows={device.mempools} title="The driver's own pools, when they kept the most" />
        <Mempools rows={device.mempools_at_end} title="The driver's own pools, as they were told of last" />
        <Marks device={device} />
      </div>
    </Section>
  );
}
