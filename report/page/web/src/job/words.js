// report/page/web/src/job/words.js — ranks of a job, and what is found of them, in words.
import { job } from "../data.js";
import { bytesText, grouped } from "../words.js";

/** "rank 417"; "process 3", where not every process has a rank. @param {number} number */
export const rankText = (number) => `${job.ranked ? "rank" : "process"} ${number}`;
const [ONE, MANY] = job?.ranked === false ? ["process", "processes"] : ["rank", "ranks"];
export const NOUN = MANY;
export const nounOf = (count) => (count === 1 ? ONE : MANY);
/** "1,000 ranks" */
export const ranksText = (count) => `${grouped(count)} ${nounOf(count)}`;

/** "leaked 4.7 MiB on average, grows by 96 KiB per step", as the text of vramscope has it. */
export const valuesText = (finding) => finding.values;

/** "96 KiB per step", of a process or of a finding. */
export const growthText = ({ growth_bytes_per_step, step }) => `${bytesText(growth_bytes_per_step)} per ${step}`;

/** A finding's call place; that of whole peaks is none. */
const WHOLE_PEAK = { stack: [{ function: "the whole peak" }], own: 0 };
export const placeOf = (finding) => (finding.api ? finding : WHOLE_PEAK);

/** [tone, word] by verdict */
export const VERDICTS = {
  leaks: ["leaks", "Leaks"],
  clean: ["clean", "Clean"],
  inconclusive: ["inconclusive", "Inconclusive"],
};

/** "1 inconclusive, 2 leak, 997 clean" */
export function verdictsText() {
  const count = (verdict) => job.processes.filter((process) => process.verdict === verdict).length;
  return [["inconclusive", "inconclusive"], ["leaks", "with leaks"], ["clean", "clean"]]
    .map(([verdict, word]) => count(verdict) > 0 && `${grouped(count(verdict))} ${word}`)
    .filter(Boolean)
    .join(", ");
}
