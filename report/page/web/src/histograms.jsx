// report/page/web/src/histograms.jsx — how large blocks are, and how long they live; what that costs.
import { countCell, shownCell, timeCell } from "./cells.jsx";
import { deviceText, report } from "./data.js";
import { Section } from "./parts.jsx";
import { histogramsIn, rangeText } from "./range.jsx";
import { AsTable } from "./table.jsx";
import { bytesText, counted, grouped, percentText, shortTime, timeText } from "./words.js";

/** Without the empty bins at both ends. */
function trimmed(rows) {
  const filled = rows.map((row) => row.blocks > 0);
  return rows.slice(Math.max(filled.indexOf(true), 0), filled.lastIndexOf(true) + 1);
}

/** Bins of all processes together, by the member that tells them apart. */
function joined(lists, key, add) {
  const bins = new Map();
  for (const list of lists)
    for (const bin of list) {
      const one = bins.get(bin[key]) ?? { ...bin, ...Object.fromEntries(add.map((name) => [name, 0])) };
      for (const name of add) one[name] += bin[name];
      bins.set(bin[key], one);
    }
  return [...bins.values()];
}

function Histogram({ title, unit, rows }) {
  const most = Math.max(...rows.map((row) => row.blocks), 1);
  return (
    <div class="panel">
      <h3 id={`histogram-${unit}`}>{title}</h3>
      <table class="histogram" aria-labelledby={`histogram-${unit}`}>
        <thead class="hidden">
          <tr>
            <th scope="col">{unit}</th>
            <th scope="col">Drawn</th>
            <th scope="col">Blocks</th>
          </tr>
        </thead>
        <tbody>
          {trimmed(rows).map((row) => (
            <tr key={row.name}>
              <th scope="row" class="number">
                {row.name}
              </th>
              <td class="fall">
                {row.blocks > 0 && <span style={{ left: 0, width: `${(100 * row.blocks) / most}%` }} />}
              </td>
              <td class="number">{grouped(row.blocks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const churns = report.shown.map((process) => process.churn);
const total = (name) => churns.reduce((sum, churn) => sum + (churn[name] ?? 0), 0);

/** By entry point, those first that took the longest. */
function DriverCalls() {
  const rows = joined(
    churns.map((churn) => churn.driver),
    "entry_point",
    ["calls", "total_ns"],
  ).sort((a, b) => b.total_ns - a.total_ns);
  if (rows.length === 0) return null;
  return (
    <AsTable
      caption="The calls that reached the driver"
      columns={[["Function", "where"], ["Calls", "number"], ["In all", "number"], ["Longest", "number wide"]]}
      rows={() =>
        rows.map((row) => [
          shownCell(row.entry_point ?? "(not known)", <code>{row.entry_point ?? "(not known)"}</code>),
          countCell(row.calls),
          timeCell(row.total_ns),
          timeCell(row.longest_ns),
        ])
      }
    />
  );
}

/** Of the run: what was allocated, and what it cost. */
function costText() {
  const allocations = total("allocations");
  return `${counted(allocations, "allocation")} of ${bytesText(total("allocated_bytes"))}; ${percentText(
    total("short_lived"),
    allocations,
  )} lived for less than a millisecond, ${percentText(
    total("redundant"),
    allocations,
  )} were of a size that the same place had freed before${
    total("driver_calls") > 0
      ? `; ${counted(total("driver_calls"), "call")} reached the driver, ${timeText(total("driver_ns"))} in all`
      : ""
  }.`;
}

export function Histograms({ range }) {
  const lists = range ? [histogramsIn(range)] : churns;
  const sizes = joined(
    lists.map((list) => list.sizes),
    "from_bytes",
    ["blocks", "bytes"],
  )
    .sort((a, b) => a.from_bytes - b.from_bytes)
    .map((bin) => ({ name: `${bytesText(bin.from_bytes)} –`, blocks: bin.blocks }));
  const lifetimes = joined(
    lists.map((list) => list.lifetimes),
    "below_ns",
    ["blocks"],
  )
    .sort((a, b) => (a.below_ns || Infinity) - (b.below_ns || Infinity))
    .map((bin, at, all) => ({
      name: bin.below_ns > 0 ? `< ${shortTime(bin.below_ns)}` : `≥ ${shortTime(all[at - 1]?.below_ns ?? 0)}`,
      blocks: bin.blocks,
    }));
  if (sizes.length === 0 && !range) return null;
  return (
    <Section
      id="sizes"
      title="Sizes and lifetimes"
      about={
        range
          ? `Of the device memory that came, and that the program freed, from ${rangeText(range)} on ${deviceText(range.device)}.`
          : costText()
      }
    >
      <div class="panels">
        <Histogram title="Blocks by size, each bin up to twice its size" unit="Size" rows={sizes} />
        {lifetimes.length > 0 && (
          <Histogram title="Blocks by lifetime, of those that were freed" unit="Lifetime" rows={lifetimes} />
        )}
      </div>
      <DriverCalls />
    </Section>
  );
}
