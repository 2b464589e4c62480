// report/page/web/src/diff.jsx — two runs side by side: what became more, and what less.
import { tellApart } from "./apart.js";
import { bytesCell, countCell, placeCell, verdictCell } from "./cells.jsx";
import { diff } from "./data.js";
import { speedText } from "./growth.jsx";
import { Section } from "./parts.jsx";
import { Table } from "./table.jsx";
import { bytesText, counted, grouped } from "./words.js";

/** [what the page says first, its tone] by the verdict of a comparison. */
export const COMPARISONS = {
  same: ["Nothing changed beyond the tolerance", "clean"],
  better: ["It became better", "clean"],
  worse: ["It became worse", "leaks"],
  inconclusive: ["The logs do not show whether it became worse", "inconclusive"],
  "nothing-observed": ["No CUDA memory call was seen", "inconclusive"],
};
const CHANGES = { new: "new", grown: "more", shrunk: "less", gone: "gone" };

const numberCell = (row, value) => (row.unit === "bytes" ? bytesCell(value) : countCell(value));
const numberText = (row, value) => (row.unit === "bytes" ? bytesText(value) : grouped(value));

/** "growth: new at 2 places" for each kind of finding that became more or less. */
function changedFindings(changes) {
  const kinds = new Map();
  for (const { kind, change } of [...diff.leaks.map((row) => ({ ...row, kind: "leaks" })), ...diff.findings])
    if (changes.includes(change)) {
      const words = `${kind}: ${CHANGES[change]}`;
      kinds.set(words, (kinds.get(words) ?? 0) + 1);
    }
  return [...kinds].map(([words, rows]) => (rows > 1 ? `${words} at ${rows} places` : words));
}

/** "growth: new; peak bytes from 3 MiB to 5 MiB" for all that is judged to be worse. */
export function worseText() {
  const one = (row) =>
    `${row.name.replaceAll("_", " ")} from ${numberText(row, row.base)} to ${numberText(row, row.new)}`;
  const worse = [...changedFindings(["new", "grown"]), ...diff.numbers.filter((row) => row.regressed).map(one)];
  if (worse.length > 0) return `Worse: ${worse.join("; ")}.`;
  const better = changedFindings(["shrunk", "gone"]);
  return better.length > 0 ? `Better: ${better.join("; ")}.` : "Of findings and numbers none is worse.";
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

function foundCell({ bytes, count, rate }) {
  if (rate) return speedText(rate);
  return bytes > 0 ? hadCell(bytes, counted(count, "time")) : { ...countCell(count), text: counted(count, "time") };
}

function Findings() {
  if (diff.findings.length === 0) return null;
  const title = "Findings that changed";
  return (
    <div class="panel">
      <h3>{title}</h3>
      <Table
        caption={title}
        columns={[["Where", "where"], ["Kind"], ["Change", "wide"], ["Before", "number"], ["Now", "number"]]}
        rows={tellApart(diff.findings).map((row) => [
          placeCell(row),
          row.kind,
          CHANGES[row.change] ?? row.change,
          foundCell(row.base),
          foundCell(row.new),
        ])}
      />
    </div>
  );
}

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
      <Table
        whole
        caption="The numbers of both runs"
        columns={[["Number"], ["Before", "number wide"], ["Now", "number"], ["Change", "number"], ["Judged"]]}
        rows={diff.numbers.map((row) => [
          row.name.replaceAll("_", " "),
          numberCell(row, row.base),
          numberCell(row, row.new),
          changeCell(row),
          row.regressed ? verdictCell("worse", "leaks") : "",
        ])}
      />
      <div class="panels">
        <Findings />
        <Places title="Leaks that changed" rows={diff.leaks} />
        <Places title="Who has more or less at the peak" rows={diff.peak} />
        <Places title="Who allocates more or less often" rows={diff.churn} />
      </div>
    </Section>
  );
}
