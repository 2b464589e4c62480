// report/page/web/src/ranks.jsx — the processes of one job side by side.
import { load } from "./address.js";
import { tellApart } from "./apart.js";
import { barCell, bytesCell, countCell, placeCell, shownCell, timeCell, verdictCell } from "./cells.jsx";
import { only, processText, report } from "./data.js";
import { HELD } from "./held.js";
import { outliers } from "./outliers.js";
import { Section } from "./parts.jsx";
import { Table } from "./table.jsx";
import { bytesText, grouped } from "./words.js";

const MOST_NAMED = 4; // processes, in a line

/** "rank 1, rank 3 and 5 more" */
function nameSome(processes) {
  const named = processes.slice(0, MOST_NAMED).map(processText).join(", ");
  const more = processes.length - MOST_NAMED;
  return more > 0 ? `${named} and ${grouped(more)} more` : named;
}
const holdersText = ({ on_all: all, processes }) => (all ? `all ${grouped(processes.length)}` : nameSome(processes));

/** Which processes share a leak: what differs is where to look. */
function SharedLeaks() {
  const rows = report.ranks.leaks.filter((row) => report.all_leaks[row.leaks[0]]);
  if (rows.length === 0) return null;
  const places = tellApart(rows.map((row) => ({ ...report.all_leaks[row.leaks[0]], apart: undefined })));
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

const LEVELS = 4; // of heat
const heatOf = (value, most) => (value > 0 ? Math.ceil((LEVELS * value) / most) : 0);

/** How dark a number is, and how far it is from the others where it stands out: in words, for whom colours are alike. */
function heatCell(bytes, most, apart) {
  return {
    ...barCell(bytes, most),
    look: `heat${heatOf(bytes, most)}`,
    after: apart !== 0 && (
      <span class="outlier">
        {apart > 0 ? "+" : "−"}
        {bytesText(Math.abs(apart))}
        <span class="hidden"> from the median</span>
      </span>
    ),
  };
}

function standOutText(rows) {
  if (rows.length === 0) return "";
  return `${rows.length === 1 ? "One is" : `${grouped(rows.length)} are`} far from the median (◆): ${nameSome(rows.map((row) => row.process))}. `;
}

const showAlone = (process) => load("process", process === only ? null : process);

function ProcessCell({ row }) {
  return (
    <button type="button" class="link" aria-pressed={row.process === only} onClick={() => showAlone(row.process)}>
      {row.rank === null ? `process ${row.run.pid}` : `rank ${row.rank}`}
    </button>
  );
}

/** All processes in a line for each number, however many they are. The table has the same in words. */
function Heat({ rows, columns }) {
  return (
    <div class="heat-map" aria-hidden="true">
      {columns.map(({ title, values, most }) => (
        <div key={title}>
          <span class="dim">{title}</span>
          <svg viewBox={`0 0 ${rows.length} 10`} preserveAspectRatio="none">
            {rows.map((row, at) => (
              <rect
                key={row.id}
                class={`heat${heatOf(values[at], most)}${row.process === only ? " chosen" : ""}`}
                x={at}
                width={1}
                height={10}
                onClick={() => showAlone(row.process)}
              >
                <title>{`${processText(row.process)}: ${bytesText(values[at])}`}</title>
              </rect>
            ))}
          </svg>
        </div>
      ))}
    </div>
  );
}

/** What is compared: its title, the number of each process, the most, and how far those that stand out are. */
const columnsOf = (rows) =>
  [
    [HELD.title, "leaked_bytes"],
    ["Peak", "peak_device_bytes"],
  ].map(([title, name]) => {
    const values = rows.map((row) => row.run.totals[name]);
    return { title, values, most: Math.max(...values, 1), apart: outliers(values) };
  });

/** [the word, its tone]: one that leaks nothing may have run out of memory. */
function standingOf({ verdict, process }) {
  const found = report.all_findings.some(({ processes }) => processes.includes(process));
  return verdict === "clean" && found ? ["with findings", "leaks"] : [verdict, verdict];
}

export function Ranks() {
  if (report.process_count < 2) return null;
  const rows = report.ranks.rows
    .filter((row) => report.processes[row.process])
    .map((row) => ({ ...row, run: report.processes[row.process] }));
  const columns = columnsOf(rows);
  const standOut = rows.filter((_, at) => columns.some(({ apart }) => apart[at] !== 0));
  return (
    <Section
      id="ranks"
      title="Processes side by side"
      about={`${grouped(report.process_count)} processes: the darker, the more. ${standOutText(standOut)}Choose one, and the page shows it alone.`}
    >
      <Heat rows={rows} columns={columns} />
      <Table
        caption="A row for each process"
        columns={[
          ["Process"],
          ["PID", "number wide"],
          ["Verdict"],
          ...columns.map(({ title }) => [title, "number with-bar"]),
          ["Allocations", "number wide"],
          ["Ran", "number wide"],
          ["End", "wide line"],
        ]}
        rows={rows.map((row, at) => [
          shownCell(processText(row.process), <ProcessCell row={row} />),
          { text: String(row.run.pid), value: row.run.pid },
          verdictCell(...standingOf(row)),
          ...columns.map(({ values, most, apart }) => heatCell(values[at], most, apart[at])),
          countCell(row.run.totals.allocations),
          timeCell(row.run.duration_ns),
          row.run.end.text,
        ])}
      />
      <SharedLeaks />
    </Section>
  );
}
