// report/page/web/src/changes.js — two runs as call stacks: what has more in the newer one, and what has less.
import { diff } from "./data.js";
import { bytesText, counted } from "./words.js";

/** What a change is called. */
export const CHANGES = { new: "new", grown: "more", shrunk: "less", gone: "gone" };

/** [the list, its title, the member that changed, what is said of it] */
const LISTS = [
  ["leaks", "Leaks, changed", "bytes", "Bytes that leak more or less than in the run before."],
  ["peak", "Peak, changed", "bytes", "Bytes at the peak, more or less than in the run before."],
  ["churn", "Allocations, changed", "blocks", "Allocations, more or less often than in the run before."],
];

const signed = (text) => (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${text(Math.abs(value))}`;

/** Kinds of the flame graph: a frame is as wide as all that changed below it, more and less together. */
export const CHANGED = LISTS.filter(([list]) => diff?.[list].length > 0).map(([list, title, member, about]) => {
  const text = member === "bytes" ? bytesText : (value) => counted(value, "allocation");
  const change = (row) => row.new[member] - row.base[member];
  return [
    `changed-${list}`,
    { title, rows: diff[list], value: (row) => Math.abs(change(row)), text, about, change, changeText: signed(text) },
  ];
});

/** What a frame has more or less, all its rows together. */
export const changeOf = (kind, node) => [...node.rows].reduce((sum, row) => sum + kind.change(row), 0);

const MOSTLY = 0.5; // of what changed: less than that is as much more as it is less
/** The class of a frame, which the sign before its name says too. */
export function changeClass(kind, node) {
  const change = changeOf(kind, node);
  if (Math.abs(change) < MOSTLY * node.value) return "both";
  return change > 0 ? "grown" : "shrunk";
}
