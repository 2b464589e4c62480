// report/page/web/src/apart.js — rows that look alike in a list, told apart as the text of vramscope does it.
import { ownFrame, placeText, processText } from "./data.js";
import { shortFunction } from "./words.js";

/** What a reader sees of a frame. */
const shown = (frame) => `${shortFunction(frame.function)} ${placeText(frame)}`;

/** The frames that lead to a row, as they are read, from the one that stands in the list outwards. */
const wayOut = (row) => row.stack.slice(row.stack.indexOf(ownFrame(row))).map(shown);

/** Rows by what they are told by; those that are alike to a reader are together. */
function groupedBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (groups.has(key)) groups.get(key).push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

/** Of ways that begin alike: the first step of each that the others have not; its last one, if there is none. */
function tellingSteps(ways) {
  const root = { count: 0, next: new Map() };
  for (const way of ways) {
    let node = root;
    for (const step of way) {
      if (!node.next.has(step)) node.next.set(step, { count: 0, next: new Map() });
      node = node.next.get(step);
      node.count += 1;
    }
  }
  return ways.map((way) => {
    let node = root;
    const at = way.findIndex((step) => {
      node = node.next.get(step);
      return node.count === 1;
    });
    return at < 0 ? way.length - 1 : at;
  });
}

/** What rows of one way differ by, of what a row may have. */
function ownerText(row, twins) {
  const differ = (name) => row[name] !== undefined && twins.some((twin) => twin[name] !== row[name]);
  return [
    differ("memory") && row.memory,
    differ("device") && `device ${row.device ?? "?"}`,
    differ("process") && processText(row.process),
  ].filter(Boolean);
}

const told = new WeakSet();

/**
 * Gives each row that others of its list look like an `apart`: "from main() train.cpp:30", "device 1, rank 3".
 * @template Row @param {Row[]} rows @returns {Row[]} the same
 */
export function tellApart(rows) {
  if (told.has(rows)) return rows;
  told.add(rows);
  for (const alike of groupedBy(rows, (row) => (row.stack.length > 0 ? shown(ownFrame(row)) : ""))) {
    if (alike.length === 1) continue;
    const twins = groupedBy(alike, (row) => wayOut(row).join("\n"));
    const ways = twins.map(([row]) => wayOut(row));
    tellingSteps(ways).forEach((step, at) => {
      for (const row of twins[at]) {
        const from = step > 0 ? [`from ${ways[at][step]}`] : [];
        row.apart = [...from, ...ownerText(row, twins[at])].join(", ");
      }
    });
  }
  return rows;
}
