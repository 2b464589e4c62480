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
const VERDICTS = {
  leaks: ["leaks", "Leaks"],
  clean: ["clean", "Clean"],
  inconclusive: ["inconclusive", "Inconclusive"],
};

/** The same of one process, which may have failed, or have a finding beside leaks. */
export function standingOf({ verdict, exit_status: status, found }) {
  if (verdict !== "inconclusive" && status > 0) return ["inconclusive", "Failed"];
  return verdict === "clean" && found ? ["leaks", "Findings"] : (VERDICTS[verdict] ?? VERDICTS.inconclusive);
}
