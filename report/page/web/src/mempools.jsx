// report/page/web/src/mempools.jsx — what the driver's own pools held, and where that was first taken.
import { bytesCell, placeCell } from "./cells.jsx";
import { Table } from "./table.jsx";
import { bytesText } from "./words.js";

/** A table of pools, nothing where there are none. `heading`: the element of its title. */
export function Mempools({ rows, title, heading: Heading = "h3" }) {
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <Heading>{title}</Heading>
      <Table
        caption={`${title} (cudaMallocAsync)`}
        columns={[["Kept", "number"], ["Reserved", "number wide"], ["Pool", "where"], ["First taken at", "where"]]}
        rows={rows.map((row) => [
          bytesCell(row.kept_bytes),
          bytesCell(row.reserved_bytes),
          `${row.default ? "the default pool" : "a pool of its own"}${row.maximum_bytes === null ? "" : `, at most ${bytesText(row.maximum_bytes)}`}`,
          row.stack.length > 0 ? placeCell(row) : "not seen",
        ])}
      />
    </div>
  );
}
