// report/page/web/src/job/map.jsx — all ranks of a job, a square for each, in a colour that is the stronger the more it has.
import { useState } from "preact/hooks";
import { useAddressed } from "../address.js";
import { bytesCell, noCell, shownCell, verdictCell } from "../cells.jsx";
import { job } from "../data.js";
import { Choice, Section } from "../parts.jsx";
import { AsTable } from "../table.jsx";
import { bytesText, fileName, grouped } from "../words.js";
import { growthText, rankText, ranksText, standingOf } from "./words.js";

const LEVELS = 4; // of heat, beside none
const LEAST_APART = 0.01; // of the most: with less between them, all look alike

const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);

/** `of`: what a process has; null: not known. `from0`: what has none has no colour. `less`: the less, the stronger. */
const MEASURES = [
  { id: "peak", title: "Peak", of: (process) => process.peak_device_bytes },
  { id: "leaked", title: "Not freed", of: (process) => process.leaked_bytes, from0: true },
  { id: "growth", title: "Growth", of: (process) => process.growth_bytes_per_step, unit: " per step", from0: true },
  { id: "free", title: "Headroom", of: (process) => process.free_bytes, less: true },
].map((measure) => {
  const values = (job?.processes ?? []).map(measure.of).filter((value) => value !== null);
  return { ...measure, from: measure.from0 ? 0 : least(values), to: most(values) };
});
const SHOWN = MEASURES.filter(({ to }) => to > 0);

function heatOf(measure, process) {
  const { from, to, less, from0 } = measure;
  const value = measure.of(process);
  if (value === null || (from0 && value === 0)) return 0;
  if (to - from < LEAST_APART * to) return 1;
  const part = (less ? to - value : value - from) / (to - from);
  return Math.max(Math.min(Math.ceil(LEVELS * part), LEVELS), 1);
}

const isDoubtful = (process) => standingOf(process)[0] === "inconclusive";

/** Ranks that are there, and those that are missing, in their order. */
const CELLS = job
  ? [
      ...job.processes.map((process) => ({ number: process.number, process })),
      ...job.missing.map((number) => ({ number, process: null })),
    ].sort((a, b) => a.number - b.number)
  : [];
/** Powers of two: what each eighth rank has stands in columns. */
const COLUMNS = CELLS.length <= 16 ? Math.max(CELLS.length, 1) : 2 ** Math.ceil(Math.log2(Math.sqrt(2 * CELLS.length)));
const LINES = Math.ceil(CELLS.length / COLUMNS);
const SIZE = 10; // of a square, in the units of the drawing
const HEIGHT = LINES * (CELLS.length <= 16 ? 28 : CELLS.length <= 2048 ? 16 : 8); // pixels
const WIDEST = 28; // pixels of a square

const xOf = (at) => (at % COLUMNS) * SIZE;
const yOf = (at) => Math.floor(at / COLUMNS) * SIZE;
const square = (at) => `M${xOf(at) + 0.5} ${yOf(at) + 0.5}h9v9h-9z`;
const cross = (at) => `M${xOf(at) + 2} ${yOf(at) + 2}l6 6m0 -6l-6 6`;
const point = (at) => `M${xOf(at) + 3.5} ${yOf(at) + 3.5}h3v3h-3z`;

/** One path for each colour; of the ranks that are there, all but these are faded. @param {Set<number> | null} marked */
function pathsOf(measure, marked) {
  const paths = new Map();
  const add = (name, path) => paths.set(name, `${paths.get(name) ?? ""}${path}`);
  CELLS.forEach(({ number, process }, at) => {
    if (!process) return add("missing", `${square(at)}${cross(at)}`);
    const faded = marked && !marked.has(number) ? " faded" : "";
    add(`heat${heatOf(measure, process)}${faded}`, square(at));
    if (isDoubtful(process)) add(`doubt${faded}`, point(at));
  });
  return [...paths].sort(([a], [b]) => a.startsWith("doubt") - b.startsWith("doubt")); // they lie on top
}

/** What is known of one, in a line. */
function Readout({ cell }) {
  if (!cell)
    return (
      <p class="readout about">
        Point at a square, or use the arrow keys in the map, to see which it is; a click or Enter shows what is found of it alone.
      </p>
    );
  const { number, process } = cell;
  const facts = process
    ? [
        `peak ${bytesText(process.peak_device_bytes)}`,
        process.leaked_bytes > 0 && `not freed ${bytesText(process.leaked_bytes)}`,
        process.growth_bytes_per_step > 0 && `grows by ${growthText(process)}`,
        process.free_bytes !== null && `${bytesText(process.free_bytes)} of ${bytesText(process.total_bytes)} left`,
        process.end,
        process.host,
        fileName(process.log),
        process.other_logs.length > 0 && `${grouped(process.other_logs.length)} more at the same time`,
      ].filter(Boolean)
    : ["missing: nothing was found of it"];
  const [tone, word] = process ? standingOf(process) : [];
  return (
    <p class="readout" role="status">
      <strong>{rankText(number)}</strong>
      {process && <span class={`verdict-word ${tone}`}>{word}</span>}
      <span class="readout-owner">{facts.join(" · ")}</span>
    </p>
  );
}

const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS };

function Squares({ measure, chosen, choose, marked, unmark }) {
  const [at, setAt] = useState(null);
  const chosenAt = chosen === null ? -1 : CELLS.findIndex(({ number }) => number === chosen);
  const here = at ?? (chosenAt < 0 ? null : chosenAt);
  const toggle = (cell) => choose(CELLS[cell].number === chosen ? null : CELLS[cell].number);
  const pointed = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.min(Math.floor(((event.clientX - box.left) / box.width) * COLUMNS), COLUMNS - 1);
    const cell = Math.floor(((event.clientY - box.top) / box.height) * LINES) * COLUMNS + column;
    if (!CELLS[cell]) return;
    setAt(cell);
    if (event.type === "click") toggle(cell);
  };
  const onKey = (event) => {
    if (event.key === "Escape") {
      unmark();
      return choose(null);
    }
    if (event.key === "Enter" && here !== null) return toggle(here);
    if (!STEPS[event.key]) return undefined;
    event.preventDefault();
    return setAt(here === null ? 0 : Math.min(Math.max(here + STEPS[event.key], 0), CELLS.length - 1));
  };
  return (
    <>
      <Readout cell={here === null ? null : CELLS[here]} />
      <div
        class="strips"
        tabIndex={0}
        role="application"
        aria-label={`Map of ${ranksText(CELLS.length)}. The arrow keys go from one to the next, Enter shows what is found of it alone.`}
        onKeyDown={onKey}
      >
        <svg
          class="squares"
          style={{ maxWidth: `${COLUMNS * WIDEST}px`, height: `${HEIGHT}px` }}
          viewBox={`0 0 ${COLUMNS * SIZE} ${LINES * SIZE}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerMove={pointed}
          onClick={pointed}
        >
          {pathsOf(measure, marked).map(([name, path]) => (
            <path key={name} class={name} d={path} />
          ))}
          {chosenAt >= 0 && <path class="chosen" d={square(chosenAt)} />}
          {here !== null && here !== chosenAt && <path class="current" d={square(here)} />}
        </svg>
      </div>
    </>
  );
}

/** What the colours and signs mean. */
function Legend({ measure }) {
  const { from, to, less, from0, unit = "" } = measure;
  const [weakest, strongest] = less ? [to, from] : [from, to];
  const alike = to - from < LEAST_APART * to;
  const doubts = job.processes.some(isDoubtful);
  return (
    <ul class="legend">
      {from0 && (
        <li>
          <span class="swatch heat0" aria-hidden="true" />
          none
        </li>
      )}
      {alike ? (
        <li>
          <span class="swatch heat1" aria-hidden="true" />
          all about {bytesText(to) + unit}
        </li>
      ) : (
        <li>
          {[1, 2, 3, 4].map((level) => (
            <span key={level} class={`swatch heat${level}`} aria-hidden="true" />
          ))}
          {from0 ? `up to ${bytesText(strongest)}${unit}` : `${bytesText(weakest)} to ${bytesText(strongest)}${unit}`}
        </li>
      )}
      {job.missing.length > 0 && (
        <li>
          <span aria-hidden="true">✕</span> missing
        </li>
      )}
      {doubts && (
        <li>
          <span class="swatch doubt" aria-hidden="true" />
          it failed, or its end or what it leaks is not known
        </li>
      )}
    </ul>
  );
}

export function RankMap({ chosen, choose, marked, unmark }) {
  const [by, setBy] = useAddressed("by", SHOWN[0]?.id);
  if (CELLS.length === 0) return null;
  const measure = SHOWN.find(({ id }) => id === by) ?? SHOWN[0] ?? MEASURES[0];
  return (
    <Section
      id="map"
      title={job.ranked ? "All ranks" : "All processes"}
      about={`A square for each, in lines of ${COLUMNS}: the stronger its colour, the ${measure.less ? "less is left" : "more"}.`}
      tools={SHOWN.length > 1 && <Choice label="What is shown" options={SHOWN.map(({ id, title }) => [id, title])} value={measure.id} onChange={setBy} />}
    >
      <Squares measure={measure} chosen={chosen} choose={choose} marked={marked} unmark={unmark} />
      <Legend measure={measure} />
      <AsTable
        caption={job.ranked ? "All ranks as a table" : "All processes as a table"}
        columns={[
          [job.ranked ? "Rank" : "Process"],
          ["Verdict"],
          ["Peak", "number"],
          ["Not freed", "number"],
          ["Growth", "number wide"],
          ["Left", "number wide"],
          ["End", "wide line"],
          ["Host", "wide line"],
          ["Log", "wide line"],
        ]}
        rows={() => job.processes.map((process) => rowOf(process, chosen, choose))}
      />
    </Section>
  );
}

function rowOf(process, chosen, choose) {
  const { number } = process;
  const [tone, word] = standingOf(process);
  return [
    { ...shownCell(rankText(number), <RankButton number={number} chosen={chosen} choose={choose} />), value: number },
    verdictCell(word, tone),
    bytesCell(process.peak_device_bytes),
    bytesCell(process.leaked_bytes),
    bytesCell(process.growth_bytes_per_step),
    process.free_bytes === null ? noCell() : bytesCell(process.free_bytes),
    process.end,
    process.host ?? "",
    [process.log, ...process.other_logs].join(", "),
  ];
}

export const RankButton = ({ number, chosen, choose }) => (
  <button type="button" class="link" aria-pressed={number === chosen} onClick={() => choose(number === chosen ? null : number)}>
    {rankText(number)}
  </button>
);
