// report/page/web/src/diff.jsx — two runs side by side: what became more, and what less.
import { functionText, ownFrame, placeText, report, wholeFunction } from "./data.js";
import { Section, Table } from "./parts.jsx";
import { bytesText, counted, grouped } from "./words.js";

const SENTENCES = {
  same: "Nothing changed beyond the tolerance",
  better: "It became better",
  worse: "It became worse",
  inconclusive: "The logs do not show whether it became worse",
  "nothing-observed": "No CUDA memory call was seen",
};
const CHANGES = { new: "new", grown: "more", shrunk: "less", gone: "gone" };

const numberText = (row, value) => (row.unit === "bytes" ? bytesText(value) : grouped(value));
function changeText(row) {
  const change = row.now - row.base;
  if (change === 0) return "–";
  return `${change > 0 ? "+" : "−"}${numberText(row, Math.abs(change))}`;
}

function Places({ title, rows }) {
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h3>{title}</h3>
      <Table
        caption={title}
        columns={[["Change"], ["Before", "number"], ["Now", "number"], ["Where"]]}
        rows={rows.map((row) => [
          CHANGES[row.change] ?? row.change,
          `${bytesText(row.base_bytes)}, ${counted(row.base_blocks, "block")}`,
          `${bytesText(row.new_bytes)}, ${counted(row.new_blocks, "block")}`,
          <>
            <code title={wholeFunction(row)}>{functionText(row)}</code>{" "}
            <span class="dim">{placeText(ownFrame(row))}</span>
          </>,
        ])}
      />
    </div>
  );
}

export function Diff() {
  const { compared } = report;
  if (!compared) return null;
  return (
    <Section
      id="diff"
      title={SENTENCES[compared.verdict] ?? compared.verdict}
      about="Beside the run before. The timeline shows both on one axis of time; all other parts are of the newer run."
    >
      {compared.reasons.length > 0 && (
        <ul class="reasons">
          {compared.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <Table
        caption="The numbers of both runs"
        columns={[["Number"], ["Before", "number"], ["Now", "number"], ["Change", "number"], ["Judged"]]}
        rows={compared.numbers.map((row) => [
          row.name.replaceAll("_", " "),
          numberText(row, row.base),
          numberText(row, row.now),
          changeText(row),
          row.regressed ? <span class="verdict-word leaks">worse</span> : "",
        ])}
      />
      <div class="panels">
        <Places title="Leaks that changed" rows={compared.leaks} />
        <Places title="Who has more or less at the peak" rows={compared.peak} />
        <Places title="Who allocates more or less often" rows={compared.churn} />
      </div>
    </Section>
  );
}
