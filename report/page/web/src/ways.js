// report/page/web/src/ways.js — the way of each call stack through the tree that the flame graph draws.
import { processText, report } from "./data.js";

/** Without frames of libraries, unless there are no others. */
function ownFrames(stack) {
  const own = stack.filter((frame) => !frame.library);
  return own.length > 0 ? own : stack;
}

const threadText = ({ tid, name }) => `thread ${tid}${name ? ` “${name}”` : ""}`;

/** What the calls of a thread begin with; those of several together, since what each of them has is not known. */
function threadFrame({ threads, thread_count: count, process }) {
  const of = report.process_count > 1 ? `, ${processText(process)}` : "";
  const name = count === 1 ? threadText(threads[0]) : `${count} threads: ${threads.map(threadText).join(", ")}`;
  return { function: `${name}${of}`, file: "", module: "", line: 0, group: true };
}
export const hasThreads = (rows) => new Set(rows.map((row) => row.threads && threadFrame(row).function)).size > 1;

/**
 * @param {{inwards: boolean, libraries: boolean, threads: boolean, callers: string}} how whether it begins with the
 *        outermost frames; whether frames of libraries are in it, and it begins with threads; the function whose callers
 *        are to be seen, if there is one
 * @returns {(row: object) => object[]} the frames of a row in their order, none where it is not in the tree
 */
export const waysBy =
  ({ inwards, libraries, threads, callers }) =>
  (row) => {
    const shown = libraries ? row.stack : ownFrames(row.stack);
    const from = callers ? shown.findIndex((frame) => frame.function === callers) : 0;
    if (from < 0) return [];
    const frames = callers || !inwards ? shown.slice(from) : [...shown].reverse();
    return threads && row.threads ? [threadFrame(row), ...frames] : frames;
  };
