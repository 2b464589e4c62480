// report/page/web/src/suppressed.jsx — known leaks: the rules that were given or used, and what they hid.
import { CallRows } from "./calls.jsx";
import { bytesCell, countCell, noCell, shownCell } from "./cells.jsx";
import { report } from "./data.js";
import { factsOf } from "./leaks.jsx";
import { Section } from "./parts.jsx";
import { Table } from "./table.jsx";
import { bytesText, counted } from "./words.js";

const { suppressed_blocks: blocks, suppressed_bytes: bytes } = report.totals ?? {};
/** "17.7 MiB suppressed"; nothing where nothing is. */
export const suppressedText = blocks > 0 ? `${bytesText(bytes)} suppressed` : "";

/** "known.supp:3", "built in: workspaces of its handles" */
const sourceText = (rule) => (rule.source === null ? `built in: ${rule.why ?? ""}` : `${rule.source}:${rule.line}`);

const hiddenRow = (row) => ({
  word: row.memory,
  place: row,
  what: `${row.api}, by ${report.suppressions[row.suppression]?.rule ?? "a rule"}`,
  amount: bytesText(row.bytes),
  facts: factsOf(row),
  calls: [[`Allocated by ${row.api}`, row]],
});

export function Suppressed() {
  const { suppressions: rules, suppressed } = report;
  if (rules.length === 0) return null;
  const hidden = `${bytesText(bytes)} in ${counted(blocks, "block")}`;
  return (
    <Section
      id="suppressed"
      title="Suppressed"
      about={
        suppressed.length > 0
          ? `${hidden} that rules call known: in no list of leaks.`
          : "No rule matched anything that was left."
      }
    >
      <Table
        whole
        caption="The rules, and what each hid"
        columns={[["Rule", "where"], ["Bytes", "number"], ["Blocks", "number"], ["Objects", "number"], ["Call stacks", "number wide"], ["From", "where"]]}
        rows={rules.map((rule) => [
          shownCell(rule.rule, <code>{rule.rule}</code>),
          rule.rows > 0 ? bytesCell(rule.bytes) : noCell("not used"),
          countCell(rule.blocks),
          countCell(rule.objects),
          countCell(rule.rows),
          sourceText(rule),
        ])}
      />
      {suppressed.length > 0 && (
        <div class="open-list below">
          <h3>What they hid</h3>
          <CallRows id="hidden" rows={suppressed.map(hiddenRow)} />
        </div>
      )}
    </Section>
  );
}
