// report/page/web/src/plan/peak.jsx — who has the peak, what would lower it, and what pins segments.
import { useState } from "preact/hooks";
import { tellApart } from "../apart.js";
import { barCell, bytesCell, countCell, placeCell, shareCell } from "../cells.jsx";
import { Choice, Section } from "../parts.jsx";
import { Table } from "../table.jsx";
import { bytesText, counted, timeText } from "../words.js";
import { policyText } from "./names.jsx";

const MOST_ROWS = 100;

function Holders({ device }) {
  const rows = tellApart(device.holders).slice(0, MOST_ROWS);
  const more = device.holders.length - rows.length + device.more_holders;
  const rest = device.live_peak_bytes - rows.reduce((sum, row) => sum + row.bytes, 0);
  return (
    <div class="panel">
      <h3>Who has it</h3>
      <Table
        caption="Call stacks at the peak"
        columns={[["Bytes", "number with-bar"], ["Share", "number wide"], ["Blocks", "number"], ["Where", "where"]]}
        rows={rows.map((row) => [
          barCell(row.bytes, rows[0].bytes),
          shareCell(row.bytes, device.live_peak_bytes),
          countCell(row.blocks),
          placeCell(row, { after: row.phase ? `, in ${row.phase}` : "" }),
        ])}
      />
      {more > 0 && (
        <p class="about note">
          {counted(more, "more call stack")} of {bytesText(rest)}.
        </p>
      )}
    </div>
  );
}

function Savings({ device }) {
  const rows = device.savings;
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h3>What would lower it</h3>
      <Table
        caption="What a change of the program would save, by a replay with it"
        columns={[["Reserved less", "number"], ["Live less", "number"], ["If", "where"]]}
        rows={rows.map((row) => [
          bytesCell(row.saves_reserved_bytes),
          bytesCell(row.saves_live_bytes),
          placeCell(row, { before: `${bytesText(row.bytes)} in ${counted(row.blocks, "block")} were ${row.change}: ` }),
        ])}
      />
    </div>
  );
}

function Sharing({ device }) {
  const rows = device.sharing;
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h3>What one buffer for two would save</h3>
      <Table
        caption="Pairs of call stacks that could have one buffer, by a replay with it"
        columns={[["Reserved less", "number"], ["Buffer", "number"], ["For", "where"], ["And", "where"]]}
        rows={rows.map(({ first, second, ...pair }) => [
          bytesCell(pair.saves_reserved_bytes),
          bytesCell(pair.buffer_bytes),
          placeCell(first, { before: `${bytesText(first.bytes)} of ` }),
          placeCell(second, {
            before: `${bytesText(second.bytes)} of `,
            after: pair.live_at_once ? ", beside it where both are live" : ", never live with it",
          }),
        ])}
      />
    </div>
  );
}

export function PlanPeak({ device }) {
  const { packing } = device;
  return (
    <Section
      id="peak"
      title="What the peak is made of"
      about={`At ${timeText(device.live_peak_ns)}, ${bytesText(device.live_peak_bytes)} that were asked for are live: under no policy can less be enough.`}
    >
      <div class="panels">
        <Holders device={device} />
        <Savings device={device} />
        <Sharing device={device} />
      </div>
      {packing && (
        <p class="about note">
          If blocks that do not live together shared memory: between {bytesText(packing.lower_bytes)} and{" "}
          {bytesText(packing.upper_bytes)} ({packing.method}).
        </p>
      )}
    </Section>
  );
}

const MOMENTS = [
  ["pinned_at_peak", "Peak"],
  ["pinned_at_end", "End"],
];

export function Pins({ device }) {
  const [wanted, setMoment] = useState("pinned_at_peak");
  const moments = MOMENTS.filter(([moment]) => device[moment].some((row) => row.pinned_bytes > 0));
  if (moments.length === 0) return null;
  const moment = moments.some(([name]) => name === wanted) ? wanted : moments[0][0];
  const rows = tellApart(device[moment]);
  const pinned = rows.reduce((sum, row) => sum + row.pinned_bytes, 0);
  return (
    <Section
      id="pins"
      title="What pins segments"
      tools={
        moments.length > 1 && (
          <Choice label="Moment" options={moments} value={moment} onChange={setMoment} />
        )
      }
      about={`At the ${moment === "pinned_at_peak" ? "peak" : "end"}, with ${policyText(device.policies[0])}, ${bytesText(
        pinned,
      )} of free memory are in segments that cannot go back to the driver: blocks of one of these call stacks are in each of them, and no others.`}
    >
      <Table
        caption="Call stacks whose blocks pin segments"
        columns={[
          ["Pinned", "number with-bar"],
          ["By", "number wide"],
          ["Blocks", "number"],
          ["Segments", "number wide"],
          ["Where", "where"],
        ]}
        rows={rows.slice(0, MOST_ROWS).map((row) => [
          barCell(row.pinned_bytes, rows[0].pinned_bytes),
          bytesCell(row.bytes),
          countCell(row.blocks),
          countCell(row.segments),
          placeCell(row),
        ])}
      />
    </Section>
  );
}
