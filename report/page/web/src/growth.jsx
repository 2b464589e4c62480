// report/page/web/src/growth.jsx — memory that grows up to the end of the work, freed then or not.
import { CallRows, processFact } from "./calls.jsx";
import { report } from "./data.js";
import { Section } from "./parts.jsx";
import { bytesText, counted, fasterText, grouped, perSecondText, rateText, timeText } from "./words.js";

/** Never more than is known: what is not wholly sure is not 100 %. */
export const sureText = ({ confidence }) => `${Math.min(Math.floor(confidence * 1000) / 10, 99.9).toFixed(1)} % sure`;

/** "64 KiB per step"; of what has no bytes, "1.5 of them per step" */
export const speedText = (rate) => rateText(rate) || `${Number(rate.blocks_per_step.toPrecision(3))} of them per ${rate.per}${fasterText(rate)}`;

/** Of the sum of one function's call stacks; else nothing. */
export const stacksText = ({ stacks }) => stacks > 1 && `by ${counted(stacks, "call stack")} of one function`;

function growthRow(row) {
  const { rate } = row;
  return {
    word: speedText(rate),
    tone: row.freed ? "" : "bad",
    place: row,
    what: [row.api, sureText(rate), stacksText(row), row.freed && "freed at the end"].filter(Boolean).join(", "),
    amount: bytesText(row.bytes),
    facts: [
      ["Grew by", `${bytesText(row.bytes)} in ${counted(row.blocks, "block")}, after the warm-up`],
      ["Speed", [perSecondText(rate), `over ${counted(rate.steps, rate.per)}`].filter(Boolean).join(", ")],
      ["How sure", sureText(rate)],
      ["When", `${timeText(rate.first_ns)} to ${timeText(rate.last_ns)}`],
      ["At the end", row.freed ? "nothing of it was left: no leak" : "some of it was left"],
      ...(row.phase ? [["In", row.phase]] : []),
      ...(row.device === null ? [] : [["Device", String(row.device)]]),
      ...processFact(row),
    ],
    calls: [[`Allocated by ${row.api}`, row]],
  };
}

/** Of the processes whose rows these are. */
function stepsText() {
  const processes = [...new Set(report.growth.map((row) => row.process))].map((at) => report.processes[at]);
  const steps = processes.map((process) => process.steps).filter(Boolean);
  if (steps.length === 0) return "no steps were seen: NVTX ranges or marks in the loop make this surer";
  const counts = steps.map((one) => one.count);
  const [least, most] = [Math.min(...counts), Math.max(...counts)].map(grouped);
  const names = [...new Set(steps.map((one) => `“${one.name}”`))].join(", ");
  return `${least === most ? least : `${least} to ${most}`} steps of ${names}, the first fifth left out as warm-up`;
}

export function Growth() {
  if (report.growth.length === 0) return null;
  const all = report.growth.reduce((stacks, row) => stacks + row.stacks - 1, report.growth.all);
  return (
    <Section
      id="growth"
      title="Growth"
      about={`${counted(all, "call stack")} ${all === 1 ? "grows" : "grow"} up to the end; ${stepsText()}.`}
    >
      <CallRows id="growing" rows={report.growth.map(growthRow)} />
    </Section>
  );
}
