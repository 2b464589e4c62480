// report/page/web/src/diff.jsx — two runs side by side: what became more, and what less.
import { tellApart } from "./apart.js";
import { bytesCell, countCell, placeCell, verdictCell } from "./cells.jsx";
import { CHANGES } from "./changes.js";
import { ComparedHoldings } from "./compared_holdings.jsx";
import { diff, functionText } from "./data.js";
import { speedText } from "./growth.jsx";
import { Section } from "./parts.jsx";
import { Table } from "./table.jsx";
import { bytesText, counted } from "./words.js";

/** [what the page says first, its tone] by the verdict of a comparison. */
export const COMPARISONS = {
  same: ["Nothing changed beyond the tolerance", "clean"],
  better: ["It became better", "clean"],
  worse: ["It became worse", "leaks"],
  inconclusive: ["The logs do not show whether it became worse", "inconclusive"],
  "nothing-observed": ["No CUDA memory call was seen", "inconclusive"],
};
const WORSE = ["new", "grown"];
const BETTER = ["shrunk", "gone"];

const numberCell = (row, value) => (row.unit === "bytes" ? bytesCell(value) : countCell(value));
const numberText = (row, value) => numberCell(row, value).text;
const changeOf = (row, member) => row.new[member] - row.base[member];
const numberName = (row) => row.name.replaceAll("_", " ") + (row.device === null ? "" : `, device ${row.device}`);

const leaksFirst = (rows) => [...rows].sort((a, b) => Math.abs(changeOf(b, "bytes")) - Math.abs(changeOf(a, "bytes")));
const leaksOf = (changes) => leaksFirst(diff.leaks.filter((row) => changes.includes(row.change)));
const findingsOf = (changes) => diff.findings.filter((row) => changes.includes(row.change));

const leakText = ({ bytes, blocks }) => (blocks > 0 ? `${bytesText(bytes)} in ${counted(blocks, "block")}` : "nothing");
function foundText({ bytes, count, rate }) {
  if (rate) return speedText(rate);
  if (count === 0) return "never";
  return `${counted(count, "time")}${bytes > 0 ? `, ${bytesText(bytes)}` : ""}`;
}

const MOST_TOLD = 3;

/** "log_loss(…) leaks 3.8 MiB → 6.3 MiB; driver calls 136 → 218": all that is judged to be worse, leaks first. */
export function worseText() {
  const worse = [
    ...leaksOf(WORSE).map((row) => `${functionText(row)} leaks ${bytesText(row.base.bytes)} → ${bytesText(row.new.bytes)}`),
    ...findingsOf(WORSE).map((row) => `${functionText(row)}, ${row.kind}: ${foundText(row.base)} → ${foundText(row.new)}`),
    ...diff.numbers
      .filter((row) => row.regressed)
      .map((row) => `${numberName(row)} ${numberText(row, row.base)} → ${numberText(row, row.new)}`),
  ];
  const more = worse.length - MOST_TOLD;
  if (worse.length > 0) return `Worse: ${worse.slice(0, MOST_TOLD).join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
  const better = leaksOf(BETTER).length + findingsOf(BETTER).length;
  return better > 0 ? `Better: ${counted(better, "finding")} less or gone.` : "Of findings and numbers none is worse.";
}

/** "+2.5 MiB", with its sign: more is not told by a colour alone. */
function changeCell(row) {
  const change = row.new - row.base;
  const text = change === 0 ? "–" : `${change > 0 ? "+" : "−"}${numberText(row, Math.abs(change))}`;
  return { ...numberCell(row, change), text };
}

/** Bytes, and below them how many. */
const hadCell = (bytes, times) => ({
  ...bytesCell(bytes),
  show: (
    <>
      {bytesText(bytes)}
      <br />
      <span class="dim">{times}</span>
    </>
  ),
});

function Places({ title, rows }) {
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h3>{title}</h3>
      <Table
        caption={title}
        columns={[["Where", "where"], ["Change", "wide"], ["Before", "number"], ["Now", "number"]]}
        rows={tellApart(rows).map((row) => [
          placeCell(row),
          CHANGES[row.change] ?? row.change,
          ...[row.base, row.new].map(({ bytes, blocks }) => hadCell(bytes, counted(blocks, "block"))),
        ])}
      />
    </div>
  );
}

const nowCell = (cell) => ({ ...cell, show: `→ ${cell.text}` });

function leakRow(row) {
  const [before, now] = [row.base, row.new].map((had) => ({ ...bytesCell(had.bytes), text: leakText(had) }));
  return [placeCell(row, { before: "leak at " }), before, nowCell(now), changeCell({ unit: "bytes", base: row.base.bytes, new: row.new.bytes })];
}

/** Of what grows, the speed is told; its change is that of the bytes. */
function findingRow(row) {
  const [before, now] = [row.base, row.new].map((had) => ({ ...countCell(had.count), text: foundText(had) }));
  const [unit, member] = changeOf(row, "bytes") === 0 ? ["count", "count"] : ["bytes", "bytes"];
  return [placeCell(row, { before: `${row.kind} at ` }), before, nowCell(now), changeCell({ unit, base: row.base[member], new: row.new[member] })];
}

const numberRow = (row) => [
  numberName(row),
  numberCell(row, row.base),
  nowCell(numberCell(row, row.new)),
  changeCell(row),
];

/** What became worse, or better: leaks first, each from what it was to what it is. */
function Changed({ title, rows }) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3 class="below">{title}</h3>
      <Table
        whole
        caption={title}
        columns={[["What", "where"], ["Before"], ["Now"], ["Change", "number"]]}
        rows={rows}
      />
    </>
  );
}

const rowsOf = (changes) => [
  ...tellApart(leaksOf(changes)).map(leakRow),
  ...tellApart(findingsOf(changes)).map(findingRow),
];

export function Diff() {
  if (!diff) return null;
  return (
    <Section
      id="diff"
      title="Beside the run before"
      about="The timeline shows both on one axis of time; all other parts are of the newer run."
    >
      {diff.reasons.length > 0 && (
        <ul class="reasons">
          {diff.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <Changed
        title="What became worse"
        rows={[...rowsOf(WORSE), ...diff.numbers.filter((row) => row.regressed).map(numberRow)]}
      />
      <Changed title="What became better" rows={rowsOf(BETTER)} />
      <h3 class="below">The numbers of both runs</h3>
      <Table
        whole
        caption="The numbers of both runs"
        columns={[["Number"], ["Before", "number wide"], ["Now", "number"], ["Change", "number"], ["Judged"]]}
        rows={diff.numbers.map((row) => [
          numberName(row),
          numberCell(row, row.base),
          numberCell(row, row.new),
          changeCell(row),
          row.regressed ? verdictCell("worse", "leaks") : "",
        ])}
      />
      <div class="panels">
        <Places title="Who has more or less at the peak" rows={diff.peak} />
        <Places title="Who allocates more or less often" rows={diff.churn} />
      </div>
      <ComparedHoldings />
    </Section>
  );
}
