// report/page/web/src/by_owner.jsx — memory by the owners that a team names.
import { bytesCell, countCell, noCell } from "./cells.jsx";
import { processText, report } from "./data.js";
import { Section } from "./parts.jsx";
import { Table } from "./table.jsx";

const deviceText = (row) => (row.device === null ? "host" : `device ${row.device}`);

export function ByOwner() {
  if (!(report.by_owner?.length > 0)) return null;
  const several = report.process_count > 1;
  return (
    <Section id="by-owner" title="Memory by owner" about="Of a device, the owners add up to all that was allocated on it.">
      <Table
        caption="Memory by owner"
        columns={[
          ["Owner", "where"],
          ["Where", "where"],
          ...(several ? [["Process", "where"]] : []),
          ["At the peak", "number"],
          ["At the end", "number"],
          ["Over the run", "number wide"],
          ["Allocations", "number wide"],
        ]}
        rows={report.by_owner.map((row) => [
          row.owner,
          deviceText(row),
          ...(several ? [processText(row.process)] : []),
          row.device === null ? noCell() : bytesCell(row.at_peak_bytes),
          bytesCell(row.live_bytes),
          bytesCell(row.allocated_bytes),
          countCell(row.allocations),
        ])}
      />
    </Section>
  );
}
