// report/page/web/src/only.js — one process of many: all parts of the page then speak of it alone.
import { bytesText, counted } from "./words.js";

const VERDICTS = {
  leaks: ["leaks", "Leaks"],
  clean: ["clean", "Clean"],
  inconclusive: ["inconclusive", "Inconclusive"],
};

/** What the overview says of it. */
function headlineOf(verdict, { leaked_bytes: bytes, leaked_blocks: blocks }) {
  const [kind, title] = VERDICTS[verdict] ?? VERDICTS.inconclusive;
  const left = blocks > 0 ? `${bytesText(bytes)} in ${counted(blocks, "block")} were not freed` : "nothing was left";
  return { kind, title, sentence: `${title}: ${left}` };
}

/** The findings that are its own, too: their numbers are of all processes, and not told. */
function findingsOf(whole, process, verdict) {
  const own = headlineOf(verdict, whole.processes[process].totals);
  const found = whole.findings
    .filter(({ processes }) => processes.includes(process))
    .map(({ kind, title }) => (kind === own.kind ? own : { kind, title, sentence: title }));
  return found.length === 0 || verdict === "inconclusive" ? [...found, own] : found;
}

/** Its own doubts, and those of the whole: others begin with the number of another process. */
const reasonsOf = (whole, { pid }) =>
  whole.verdict_reasons.filter((reason) => !/^process \d+: /.test(reason) || reason.startsWith(`process ${pid}: `));

/** Lists of the report whose rows are of a process. */
const isOfProcesses = (member) => Array.isArray(member) && member.some((row) => row?.process !== undefined);

/**
 * The report with the rows and the sums of one process. All are still in `processes`, by whose index rows name theirs,
 * and in `ranks`, whose leaks are indexes of `all_leaks`; `shown` are those that are spoken of. `all_findings` are of all.
 */
export function reportOf(whole, process) {
  const all = { all_leaks: whole.leaks, all_findings: whole.findings };
  if (process === null) return { ...whole, ...all, shown: whole.processes };
  const one = whole.processes[process];
  const ofIt = (list) => {
    const rows = list.filter((row) => row.process === process);
    return Object.assign(rows, { all: rows.length });
  };
  const { verdict } = whole.ranks.rows.find((row) => row.process === process) ?? {};
  const lists = Object.entries(whole).filter(([, member]) => isOfProcesses(member));
  return {
    ...whole,
    ...Object.fromEntries(lists.map(([name, rows]) => [name, ofIt(rows)])),
    processes: whole.processes,
    shown: [one],
    ...all,
    totals: one.totals,
    verdict,
    verdict_reasons: reasonsOf(whole, one),
    findings: findingsOf(whole, process, verdict),
  };
}
