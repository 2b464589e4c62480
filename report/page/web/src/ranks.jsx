// report/page/web/src/ranks.jsx — the processes of one job side by side.
import { report } from "./data.js";
import { HELD } from "./held.js";
import { Bar, Section } from "./parts.jsx";
import { bytesText, grouped, timeText } from "./words.js";

export function Ranks() {
  if (report.process_count < 2) return null;
  const rows = report.ranks
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
                <td class="line">{row.run.end}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
