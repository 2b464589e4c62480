// report/page/web/src/ranks.jsx — the processes of one job side by side.
import { tellApart } from "./apart.js";
import { bytesCell, countCell, placeCell } from "./cells.jsx";
import { processText, report } from "./data.js";
import { HELD } from "./held.js";
import { Bar, Section } from "./parts.jsx";
import { Table } from "./table.jsx";
import { bytesText, grouped, timeText } from "./words.js";

const MOST_NAMED = 4; // processes, in a line

/** "all 4", "rank 1, rank 3" */
function holdersText({ on_all: all, processes }) {
  if (all) return `all ${grouped(processes.length)}`;
  const named = processes.slice(0, MOST_NAMED).map(processText).join(", ");
  const more = processes.length - MOST_NAMED;
  return more > 0 ? `${named} and ${grouped(more)} more` : named;
}

/** Which processes share a leak: what differs is where to look. */
function SharedLeaks() {
  const rows = report.ranks.leaks.filter((row) => report.leaks[row.leaks[0]]);
  if (rows.length === 0) return null;
  const places = tellApart(rows.map((row) => ({ ...report.leaks[row.leaks[0]] })));
  return (
    <>
      <h3 class="below">{HELD.title}, by call stack</h3>
      <Table
        caption={`${HELD.title}, by call stack, and by which processes`}
        columns={[["By", "where"], ["Each", "number"], ["Blocks", "number wide"], ["Where", "where"]]}
        rows={rows.map((row, at) => [
          holdersText(row),
          row.least_bytes === row.most_bytes
            ? bytesCell(row.most_bytes)
            : { ...bytesCell(row.most_bytes), text: `${bytesText(row.least_bytes)} to ${bytesText(row.most_bytes)}` },
          countCell(row.blocks),
          placeCell(places[at]),
        ])}
      />
    </>
  );
}

export function Ranks() {
  if (report.process_count < 2) return null;
  const rows = report.ranks.rows
    .filter((row) => report.processes[row.process])
    .map((row) => ({ ...row, run: report.processes[row.process] }));
  const most = (name) => Math.max(...rows.map((row) => row.run.totals[name]), 1);
  const [leaked, peak] = [most("leaked_bytes"), most("peak_device_bytes")];
  const cell = (bytes, whole) => (
    <td class="number with-bar">
      {bytesText(bytes)}
      <Bar part={bytes} whole={whole} />
    </td>
  );
  return (
    <Section
      id="ranks"
      title="Processes side by side"
      about={`${grouped(report.process_count)} processes; a bar is a part of the most.`}
    >
      <div class="scroll" tabIndex={0} role="region" aria-label="A row for each process">
        <table>
          <thead>
            <tr>
              <th scope="col">Rank</th>
              <th scope="col">Process</th>
              <th scope="col">Verdict</th>
              <th scope="col" class="number">
                {HELD.title}
              </th>
              <th scope="col" class="number">
                Peak
              </th>
              <th scope="col" class="number">
                Allocations
              </th>
              <th scope="col" class="number">
                Ran
              </th>
              <th scope="col">End</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>{row.rank ?? "–"}</td>
                <td>{row.run.pid}</td>
                <td>
                  <span class={`verdict-word ${row.verdict}`}>{row.verdict}</span>
                </td>
                {cell(row.run.totals.leaked_bytes, leaked)}
                {cell(row.run.totals.peak_device_bytes, peak)}
                <td class="number">{row.run.totals.allocations}</td>
                <td class="number">{timeText(row.run.duration_ns)}</td>
                <td class="line">{row.run.end.text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <SharedLeaks />
    </Section>
  );
}
