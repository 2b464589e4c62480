// report/page/web/src/flame.jsx — where memory comes from: call stacks as a tree, outermost first.
import { useMemo } from "preact/hooks";
import { useAddressed } from "./address.js";
import { CHANGED } from "./changes.js";
import { deviceText, highest, report } from "./data.js";
import { FlameTree } from "./flame_tree.jsx";
import { HELD } from "./held.js";
import { Choice, Search, Section } from "./parts.jsx";
import { kindsThen } from "./range.jsx";
import { AsTable } from "./table.jsx";
import { matches } from "./tree.js";
import { hasThreads } from "./ways.js";
import { bytesText, counted, grouped, percentText, shortFunction, wordsOf } from "./words.js";

const sites = report.shown.flatMap((process) => process.churn.sites);
const moreSites = report.shown.reduce((sum, process) => sum + process.churn.more_sites, 0);
const ofSites =
  moreSites > 0
    ? ` Of the ${counted(sites.length, "place")} that allocate most often; ${grouped(moreSites)} more are left out.`
    : "";

const KINDS = {
  leaked: {
    title: HELD.title,
    rows: report.leaks,
    value: (row) => row.bytes,
    text: bytesText,
    about: HELD.sentence,
  },
  peak: {
    title: "Peak",
    rows: highest?.peak.stacks ?? [],
    value: (row) => row.bytes,
    text: bytesText,
    about: `Bytes that were alive at the peak${highest ? ` of ${deviceText(highest)}` : ""}.${
      highest?.peak.more.stacks > 0
        ? ` ${counted(highest.peak.more.stacks, "smaller call stack")} with ${bytesText(highest.peak.more.bytes)} are left out.`
        : ""
    }`,
  },
  allocated: {
    title: "Allocated",
    rows: sites,
    value: (row) => row.allocated_bytes,
    text: bytesText,
    about: `Bytes of all allocations, freed or not.${ofSites}`,
  },
  churn: {
    title: "Churn",
    rows: sites,
    value: (row) => row.redundant,
    text: (value) => counted(value, "allocation"),
    about: `Allocations of a size that the same place had freed before.${ofSites}`,
  },
};
const ofRun = Object.entries(KINDS).filter(([, kind]) => kind.rows.some((row) => kind.value(row) > 0));

/** The part of all that has such a frame in its call stack. */
function partText(kind, isWanted) {
  const sum = (rows) => rows.reduce((value, row) => value + Math.max(kind.value(row), 0), 0);
  const rows = kind.rows.filter((row) => row.stack.some(isWanted));
  const found = sum(rows);
  return `${kind.text(found)}, ${percentText(found, sum(kind.rows))}, in ${counted(rows.length, "call stack")}`;
}

const NONE = [];
const SWITCHES = { text: (on) => on.join(" "), value: (text) => text.split(" ") };

/** Buttons of which each is pressed or not. */
function Switches({ label, options, on, change }) {
  if (options.length === 0) return null;
  const toggled = (name) => (on.includes(name) ? on.filter((one) => one !== name) : [...on, name]);
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([name, text]) => (
        <button key={name} type="button" aria-pressed={on.includes(name)} onClick={() => change(toggled(name))}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** Colours have a sign beside them in each frame. */
const ChangeLegend = () => (
  <ul class="legend">
    {[
      ["grown", "+ more than before"],
      ["shrunk", "− less than before"],
      ["both", "± both below it"],
    ].map(([name, text]) => (
      <li key={name}>
        <span class={`swatch ${name}`} aria-hidden="true" />
        {text}
      </li>
    ))}
  </ul>
);

const DIRECTIONS = [
  ["outermost", "From main"],
  ["innermost", "From the allocation"],
];

export function Flames({ selected, select, moment, range }) {
  const [chosen, choose] = useAddressed("stacks", null, { visit: true });
  const [from, setFrom] = useAddressed("from", "outermost", { visit: true });
  const [wanted, setWanted] = useAddressed("find", "");
  const [callers, showCallers] = useAddressed("callers", "", { visit: true });
  const [more, setMore] = useAddressed("frames", NONE, { form: SWITCHES, visit: true });
  const then = useMemo(() => kindsThen(moment, range), [moment, range]);
  const kinds = [...then, ...CHANGED, ...ofRun];
  if (kinds.length === 0) return null;
  const [name, kind] = kinds.find(([key]) => key === chosen) ?? kinds[0];
  const inwards = from !== "innermost";
  const words = wordsOf(wanted);
  const switches = [
    kind.rows.some((row) => row.stack.some((frame) => frame.library)) && ["libraries", "Library frames"],
    hasThreads(kind.rows) && ["threads", "By thread"],
  ].filter(Boolean);
  const isOn = (one) => switches.some(([name]) => name === one) && more.includes(one);
  const how = { inwards, callers, libraries: isOn("libraries"), threads: isOn("threads") };
  const rows = () =>
    [...kind.rows]
      .sort((a, b) => kind.value(b) - kind.value(a))
      .map((row) => [
        {
          text: (kind.changeText ?? kind.text)((kind.change ?? kind.value)(row)),
          value: (kind.change ?? kind.value)(row),
          unit: kind.text === bytesText ? "B" : "",
        },
        row.stack
          .map((frame) => shortFunction(frame.function))
          .reverse()
          .join(" › ") || "(no call stack)",
      ]);
  return (
    <Section
      id="flame"
      title="Call stacks"
      about={`${kind.about} A frame is as wide as its part; what ${inwards && !callers ? "it calls" : "calls it"} is below it.`}
      tools={
        <>
          <Switches label="Frames" options={switches} on={more} change={setMore} />
          <Choice label="Direction" value={inwards ? "outermost" : "innermost"} onChange={setFrom} options={DIRECTIONS} />
          <Choice
            label="What is shown"
            value={name}
            onChange={choose}
            options={kinds.map(([key, one]) => [key, one.title])}
          />
        </>
      }
    >
      <Search
        label="Find in the call stacks"
        placeholder="Find functions, files, modules"
        value={wanted}
        onChange={setWanted}
        says={words.length > 0 && partText(kind, (frame) => matches(frame, words))}
      />
      {kind.change && <ChangeLegend />}
      {callers && (
        <p class="about callers" role="status">
          Callers of <code>{shortFunction(callers)}</code>: {partText(kind, (frame) => frame.function === callers)}.
        </p>
      )}
      <FlameTree key={name} kind={kind} how={how} words={words} selected={selected} select={select} showCallers={showCallers} />
      <AsTable
        caption="The call stacks as a table"
        columns={[[kind.title, "number"], ["From the outermost frame"]]}
        rows={rows}
      />
    </Section>
  );
}
