// report/page/web/src/job/findings.jsx — what is unusual among the ranks of a job, by kind, in the order in which it matters.
import { tellApart } from "../apart.js";
import { CallRows } from "../calls.jsx";
import { job } from "../data.js";
import { Section } from "../parts.jsx";
import { bytesText } from "../words.js";
import { NOUN, growthText, placeOf, rankText, valuesText } from "./words.js";

/** The kinds of finding: where each is on the page, and what it says. */
export const KINDS = [
  { id: "alone", title: "Alone", heading: `What few ${NOUN} have`, about: `The other ${NOUN} have no such call place, or nothing leaks or grows there on them.`, bad: true },
  { id: "far-off", title: "Far off", heading: "Values far from what is usual", about: `Among the ${NOUN} that have the place, of which there are five at least: six robust standard deviations from the median.`, bad: true },
  { id: "some", title: "Some", heading: `What leaks or grows on some ${NOUN}`, about: "On the others it does not.", bad: true },
  { id: "all", title: "All", heading: `What leaks or grows on all ${NOUN}`, about: "One line for all of them; bytes are what each has in the mean.", bad: true },
  { id: "held", title: "Held", heading: "Held at the end", about: `Of ${NOUN} that crashed or were killed, or of which events are missing: it may be no leak.` },
  { id: "part", title: "Parts", heading: "Parts of the job", about: `Call places that some ${NOUN} have and others have not, as the stages of a pipeline: no fault.` },
];

/** Findings of one kind, that name this rank where one is chosen. */
export const findingsOf = (kind, chosen) =>
  job.findings.filter((one) => one.kind === kind && (chosen === null || one.ranks.includes(chosen)));

const factsOf = (finding, mark) =>
  [
    [
      job.ranked ? "Ranks" : "Processes",
      <button key="mark" type="button" class="link" onClick={() => mark(finding)}>
        {finding.subject}: show in the map
      </button>,
    ],
    finding.leaked_bytes > 0 && ["Leaked", bytesText(finding.leaked_bytes)],
    finding.held_bytes > 0 && ["Held at the end", bytesText(finding.held_bytes)],
    finding.growth_bytes_per_step > 0 && ["Grows", growthText(finding)],
    finding.at_peak_bytes > 0 && ["At peak", bytesText(finding.at_peak_bytes)],
    finding.kind === "far-off" && ["Usually", bytesText(finding.usual_bytes)],
    finding.api && ["Call", finding.api],
    finding.memory && finding.api && ["Memory", finding.memory],
  ].filter(Boolean);

function rowOf(finding, { bad }, mark) {
  return {
    number: finding.id,
    word: finding.subject,
    tone: bad && "bad",
    place: placeOf(finding),
    what: valuesText(finding),
    facts: factsOf(finding, mark),
    calls: finding.api ? [["Its call stack", finding]] : [],
  };
}

/** @param {{kind: object, chosen: number | null, mark: (finding: object) => void}} props */
export function Findings({ kind, chosen, mark }) {
  const all = findingsOf(kind.id, null);
  if (all.length === 0) return null;
  tellApart(all);
  const rows = findingsOf(kind.id, chosen);
  return (
    <Section id={kind.id} title={kind.heading} about={kind.about}>
      {rows.length === 0 ? (
        <p class="whole">Nothing of {rankText(chosen)}.</p>
      ) : (
        <CallRows id={`${kind.id}-row`} rows={rows.map((finding) => rowOf(finding, kind, mark))} />
      )}
    </Section>
  );
}
