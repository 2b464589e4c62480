// report/page/web/src/table.jsx — tables, whose rows are put in another order by the heads of their columns.
import { useState } from "preact/hooks";
import { csvOf, download } from "./csv.js";

const UNITS = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, µs: 1e3, ms: 1e6, s: 1e9, min: 6e10 };

/** What a cell says in the least of its units: of "11.4 MiB", "1,234", "64.8 %", "84.9 ms". None: it is no number. */
function amountOf(cell) {
  const [, number, unit] = String(cell).match(/^([+-]?[\d,]+(?:\.\d+)?)(?: ([A-Za-zµ]+))?/) ?? [];
  return number === undefined ? null : parseFloat(number.replaceAll(",", "")) * (UNITS[unit] ?? 1);
}

const isCell = (cell) => ["string", "number"].includes(typeof cell) || cell?.text !== undefined;
const textOf = (cell) => (isCell(cell) ? (cell.text ?? String(cell)) : "");
const valueOf = (cell) => (cell.value === undefined ? amountOf(textOf(cell)) : cell.value);

/** The smaller first; what is no number last, by its letters. */
function compare(a, b) {
  const [left, right] = [valueOf(a), valueOf(b)];
  if (left !== null && right !== null) return left - right;
  return (left === null) - (right === null) || textOf(a).localeCompare(textOf(b));
}

function inOrder(rows, { column, descending }) {
  if (column === null) return rows;
  const sorted = [...rows].sort((a, b) => compare(a[column], b[column]));
  return descending ? sorted.reverse() : sorted;
}

/** As it is shown, with the numbers whole, and their units in the heads. */
function csvRows(columns, rows) {
  const unitOf = (at) => rows.map((row) => row[at].unit).find(Boolean);
  const field = (cell) => (cell.value === undefined ? (cell.whole ?? textOf(cell)) : (cell.value ?? ""));
  const heads = columns.map(([title], at) => (unitOf(at) ? `${title} (${unitOf(at)})` : title));
  return [heads, ...rows.map((row) => row.map(field))];
}

/** Columns of numbers begin with the largest; a third time the rows are as they were. */
function next(order, column, isNumber) {
  if (order.column !== column) return { column, descending: isNumber };
  return order.descending === isNumber ? { column, descending: !isNumber } : { column: null };
}

function Head({ title, kind, sorted, sort }) {
  return (
    <th scope="col" class={kind} aria-sort={sorted}>
      {sort ? (
        <button type="button" class="sort" onClick={sort}>
          {title}
          <span aria-hidden="true">{{ ascending: " ↑", descending: " ↓" }[sorted]}</span>
        </button>
      ) : (
        title
      )}
    </th>
  );
}

/**
 * @param {{columns: [string, string?][], rows: import("./cells.jsx").Cell[][], whole?: boolean}} props
 *        a column is its title and class; `whole`: all rows are seen at once
 */
export function Table({ caption, columns, rows, whole }) {
  const [order, setOrder] = useState({ column: null });
  const isList = rows.length > 2;
  const canSort = (column) => isList && rows.every((row) => isCell(row[column]));
  const sorted = inOrder(rows, order);
  return (
    <>
      <div class={whole ? "scroll whole" : "scroll"} tabIndex={0} role="region" aria-label={caption}>
        <table>
          <thead>
            <tr>
              {columns.map(([title, kind], at) => (
                <Head
                  key={title}
                  title={title}
                  kind={kind}
                  sorted={order.column !== at ? undefined : order.descending ? "descending" : "ascending"}
                  sort={canSort(at) && (() => setOrder(next(order, at, kind?.includes("number") ?? false)))}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td class={[columns[column][1], cell.look].filter(Boolean).join(" ") || undefined}>
                    {cell.show ?? cell.text ?? cell}
                    {cell.after}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isList && (
        <p class="copy">
          <button type="button" class="link" onClick={() => download(caption, csvOf(csvRows(columns, sorted)))}>
            Save as CSV
          </button>
        </p>
      )}
    </>
  );
}

/** A table beside a chart, made only when it is opened. */
export function AsTable({ caption, columns, rows }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{caption}</summary>
      {open && <Table caption={caption} columns={columns} rows={rows()} />}
    </details>
  );
}
