// report/page/web/src/shortages.jsx — each time that memory was not enough: why, who had it, what helps.
import { tellApart } from "./apart.js";
import { bytesCell, placeCell, shareCell } from "./cells.jsx";
import { report } from "./data.js";
import { Mempools } from "./mempools.jsx";
import { Place, Section, Stack } from "./parts.jsx";
import { Table } from "./table.jsx";
import { bytesText, counted, percentText, timeText } from "./words.js";

function why(row) {
  const short = row.short_by > 0 ? bytesText(row.short_by) : "";
  switch (row.verdict) {
    case "lacking":
      return `too little memory was left${short && `: ${short} short`}`;
    case "fragmented":
      return `there was enough, but in no one piece${short && `: ${short} short of it`}`;
    case "cached":
      return "the pool held a piece that is large enough, and could not hand it out yet";
    case "refused":
      return "enough was free in all; in which pieces, only the driver knows";
    case "limited": {
      if (row.setting) return `above the ${bytesText(row.allowed_bytes)} that ${row.setting} allows`;
      const pool = row.mempools.find(
        (one) => one.maximum_bytes !== null && row.requested_bytes > one.maximum_bytes - one.used_bytes,
      );
      return `above the maximum of ${pool ? bytesText(pool.maximum_bytes) : "its own"} that a pool of the driver's has`;
    }
    case "impossible":
      return "no device has so much: the size itself is wrong";
    default:
      return "it is not known how much was free";
  }
}

/** What the driver had free, and what the pool had beside its blocks. */
function freeText(row) {
  const driver =
    row.total_bytes > 0 ? `${bytesText(row.free_bytes)} of ${bytesText(row.total_bytes)} were the driver's to give. ` : "";
  if (!(row.free_pieces > 0)) return driver;
  const pool = `${bytesText(row.free_piece_bytes)} were free in ${counted(row.free_pieces, "piece")} of segments`;
  return `${driver}${pool}${row.largest_gap ? `, the largest ${bytesText(row.largest_gap)}` : ""}. `;
}

/** What a cell of the map stands for; it is an equal part of all segments, one after the other. */
const CELLS = { "#": "allocated", "+": "partly allocated", "~": "pending", ".": "free" };

function Map({ cells }) {
  const parts = Object.entries(CELLS)
    .map(([cell, name]) => [[...cells].filter((one) => one === cell).length, name])
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${percentText(count, cells.length)} ${name}`);
  return (
    <figure>
      <svg class="strip" viewBox={`0 0 ${cells.length} 10`} preserveAspectRatio="none" aria-hidden="true">
        {[...cells].map((cell, at) => (
          <rect key={at} class={CELLS[cell].split(" ")[0]} x={at} width="1" height="10" />
        ))}
      </svg>
      <figcaption class="about">
        The segments then, one after the other, by cells: {parts.join(", ")}.
      </figcaption>
    </figure>
  );
}

function Shortage({ row }) {
  const owners = row.owners ?? [];
  const held = owners.reduce((sum, owner) => sum + owner.bytes, 0);
  return (
    <li>
      <h3>
        {timeText(row.at_ns)}:{" "}
        {row.requested_bytes > 0
          ? `${row.requested_at_least ? "at least " : ""}${bytesText(row.requested_bytes)} wanted`
          : "an allocation failed"}
        , {why(row)}
      </h3>
      <p class="about">
        {freeText(row)}
        {row.held_apart_by && row.verdict === "fragmented" && (
          <>
            <Place row={row.held_apart_by} /> holds them apart, with{" "}
            {counted(row.held_apart_by.blocks, "block")}.{" "}
          </>
        )}
        {row.remedy && (
          <>
            It would have fitted with <code>{row.remedy}</code>.
          </>
        )}
      </p>
      {row.map && <Map cells={row.map} />}
      <div class="panels">
        <div class="panel">
          <h4>Who asked, with {row.api}</h4>
          <Stack row={row} />
        </div>
        {owners.length > 0 && (
          <div class="panel">
            <h4>Who held the most then</h4>
            <Table
              caption="Who held the most then"
              columns={[["Bytes", "number"], ["Of these", "number wide"], ["Where", "where"]]}
              rows={tellApart(owners).map((owner) => [
                bytesCell(owner.bytes),
                shareCell(owner.bytes, held),
                placeCell(owner),
              ])}
            />
          </div>
        )}
        <Mempools rows={row.mempools} title="What the driver's own pools kept" heading="h4" />
      </div>
    </li>
  );
}

export function Shortages() {
  if (report.out_of_memory.length === 0) return null;
  const all = report.shown.reduce((sum, process) => sum + process.out_of_memory_count, 0);
  return (
    <Section
      id="shortages"
      title="Out of memory"
      about={`${counted(all, "allocation")} failed for want of memory${
        all > report.out_of_memory.length ? `; the first and the last ${report.out_of_memory.length} are told` : ""
      }.`}
    >
      <ol class="plain shortages">
        {report.out_of_memory.map((row) => (
          <Shortage key={row.id} row={row} />
        ))}
      </ol>
    </Section>
  );
}
