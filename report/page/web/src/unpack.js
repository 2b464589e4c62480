// report/page/web/src/unpack.js — documents as they were before ../../packer.hpp, which says how they are packed.

/**
 * Knows no member by its name, but for stacks and frames. Rows get an `id`, their number in the list, and
 * `stack_number`, by which stacks are compared; lists of rows have `all`, how many there were before some were left out.
 * @param {object} raw what stands in the page
 * @returns {{documents: object, frames: object[]}} `frames`: those that all stacks share
 */
export function unpacked({ strings, frames: columnsOfFrames, stacks: numbersOfFrames, ...packed }) {
  const frames = [];
  const stacks = []; // those that were asked for
  const textOf = (number) => strings[number] ?? null;
  const frameOf = (number) => frames[number] ?? null;
  const stackOf = (number) => (number === null ? null : (stacks[number] ??= numbersOfFrames[number].map(frameOf)));
  const readers = { stack: stackOf, frame: frameOf };

  /** [the name of a member, what makes its value] */
  const memberOf = (key) => (key.startsWith("$") ? [key.slice(1), textOf] : [key, readers[key] ?? valueOf]);

  function valueOf(value) {
    if (Array.isArray(value)) return value.map(valueOf);
    if (value === null || typeof value !== "object") return value;
    if (value.texts) return value.texts.map(textOf);
    if (value.columns) return rowsOf(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const [name, read] = memberOf(key);
        return [name, read(member)];
      }),
    );
  }

  /** What stands in each row of a column. */
  function cellsOf(column, read, count) {
    if (column?.columns) return rowsOf(column);
    return Array.isArray(column) ? column.map(read) : Array(count).fill(read(column));
  }

  function rowsOf({ rows: count, columns, all = count, none = [] }) {
    const rows = Array.from({ length: count }, (_, id) => ({ id }));
    for (const [key, column] of Object.entries(columns)) {
      const [name, read] = memberOf(key);
      cellsOf(column, read, count).forEach((cell, at) => {
        rows[at][name] = cell;
      });
      if (key === "stack")
        cellsOf(column, valueOf, count).forEach((number, at) => {
          rows[at].stack_number = number;
        });
    }
    for (const at of none) rows[at] = null;
    return Object.assign(rows, { all });
  }

  frames.push(...rowsOf(columnsOfFrames));
  return { documents: valueOf(packed), frames };
}
