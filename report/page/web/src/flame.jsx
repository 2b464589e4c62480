// report/page/web/src/flame.jsx — where memory comes from: call stacks as a tree, outermost first.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAddressed } from "./address.js";
import { callKey, deviceText, highest, report } from "./data.js";
import { HELD } from "./held.js";
import { Choice, Search, Section } from "./parts.jsx";
import { FramePlace } from "./sources.jsx";
import { AsTable } from "./table.jsx";
import { matches, treeOf, visibleNodes } from "./tree.js";
import { bytesText, counted, grouped, percentText, shortFunction, timeText, wordsOf } from "./words.js";

const LEAST = 0.001; // narrower ones are not drawn
const sites = report.processes.flatMap((process) => process.churn.sites);
const moreSites = report.processes.reduce((sum, process) => sum + process.churn.more_sites, 0);
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

const SMALLER = { function: "(smaller call stacks)", file: "", module: "", line: 0, library: 1 };

/** What was alive at the moment that was picked, all of it. */
function kindOf(moment) {
  const rows = moment.rows();
  const rest = moment.bytes - rows.reduce((sum, row) => sum + row.bytes, 0);
  if (rest > 0) rows.push({ bytes: rest, stack: [SMALLER], own: 0 });
  return {
    title: `At ${timeText(moment.ns)}`,
    rows,
    value: (row) => row.bytes,
    text: bytesText,
    about: `Bytes that were alive at ${timeText(moment.ns)} on ${deviceText(moment.device)}, the highest moment from ${timeText(
      moment.from_ns,
    )} to ${timeText(moment.to_ns)}.${rest > 0 ? ` ${bytesText(rest)} are of smaller call stacks, which are not told apart.` : ""}`,
  };
}

function classOf(node, marked, words) {
  const { frame } = node;
  return [
    "node",
    frame?.library ? "library" : frame?.python ? "python" : frame?.file ? "own" : "unknown",
    frame && marked.some((row) => node.rows.has(row)) && "marked",
    frame && words.length > 0 && matches(frame, words) && "found",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Arrow keys go through the tree, as the eye does. */
function neighbour(node, key) {
  const siblings = node.parent?.children ?? [node];
  const at = siblings.indexOf(node);
  return {
    ArrowDown: node.children[0],
    ArrowUp: node.parent,
    ArrowLeft: siblings[at - 1],
    ArrowRight: siblings[at + 1],
  }[key];
}

function Flame({ kind, inwards, words, selected, select }) {
  const root = useMemo(() => treeOf(kind.rows, kind.value, inwards), [kind, inwards]);
  // A row of another list is the same call.
  const marked = selected ? kind.rows.filter((row) => callKey(row) === callKey(selected)) : [];
  const [focus, setFocus] = useState(root);
  const [current, setCurrent] = useState(root);
  const place = useRef(null);
  useEffect(() => {
    setFocus(root);
    setCurrent(root);
  }, [root]);
  const shown = focus.depth === 0 || focus.parent ? focus : root;
  const { nodes, hidden } = visibleNodes(shown, LEAST);
  const deepest = nodes.reduce((depth, node) => Math.max(depth, node.depth), 0);
  const inside = (node) => node.depth >= shown.depth && node.value <= shown.value;
  const left = (node) => (node.depth < shown.depth ? 0 : ((node.at - shown.at) / shown.value) * 100);
  const width = (node) => (node.depth < shown.depth ? 100 : (node.value / shown.value) * 100);
  const go = (node) => {
    setFocus(node);
    setCurrent(node);
    if (node.rows.size === 1) {
      const [row] = node.rows;
      const leak = report.leaks.find((one) => one === row || callKey(one) === callKey(row));
      if (leak) select(leak);
    }
  };
  const onKey = (event) => {
    if (event.key === "Escape") return go(root);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return go(current);
    }
    const next = neighbour(current, event.key);
    if (!event.key.startsWith("Arrow")) return undefined;
    event.preventDefault();
    if (next && nodes.includes(next)) setCurrent(next);
    return undefined;
  };
  const label = (node) =>
    node.frame
      ? `${node.frame.function}, ${kind.text(node.value)}, ${percentText(node.value, root.value)}`
      : `all, ${kind.text(node.value)}`;
  const { frame } = current;
  return (
    <>
      <p class="flame-readout" role="status">
        <code>{frame ? frame.function : "all"}</code>
        <span class="dim">{frame && <FramePlace frame={frame} />}</span>
        <span class="number">{kind.text(current.value)}</span>
        <span class="number dim">{percentText(current.value, root.value)}</span>
      </p>
      <div
        class="flame"
        ref={place}
        role="tree"
        tabIndex={0}
        onKeyDown={onKey}
        aria-activedescendant={`node-${nodes.indexOf(current)}`}
        aria-label={`${kind.title}, by call stack. Arrow keys move, Enter zooms, Escape shows all.`}
        style={{ height: `${(deepest + 1) * 22}px` }}
      >
        {nodes.map((node, at) => (
          <div
            key={at}
            id={`node-${at}`}
            role="treeitem"
            aria-level={node.depth + 1}
            aria-label={label(node)}
            title={label(node)}
            aria-selected={node === current}
            class={`${classOf(node, marked, words)}${node === current ? " current" : ""}${inside(node) ? "" : " above"}`}
            style={{ left: `${left(node)}%`, width: `${width(node)}%`, top: `${node.depth * 22}px` }}
            onClick={() => go(node === focus && node !== root ? node.parent : node)}
            onMouseEnter={() => setCurrent(node)}
          >
            {node.frame ? shortFunction(node.frame.function) : "all"}
          </div>
        ))}
      </div>
      <p class="about">
        {shown !== root && (
          <button type="button" class="link" onClick={() => go(root)}>
            Show all
          </button>
        )}
        {hidden > 0 && ` ${counted(hidden, "frame")} too narrow to draw: zoom in to see them.`}
      </p>
    </>
  );
}

/** The part of all that has a matching frame in its call stack. */
function foundText(kind, words) {
  const sum = (rows) => rows.reduce((value, row) => value + Math.max(kind.value(row), 0), 0);
  const rows = kind.rows.filter((row) => row.stack.some((frame) => matches(frame, words)));
  const found = sum(rows);
  return `${kind.text(found)}, ${percentText(found, sum(kind.rows))}, in ${counted(rows.length, "call stack")}`;
}

const DIRECTIONS = [
  ["outermost", "From main"],
  ["innermost", "From the allocation"],
];

export function Flames({ selected, select, moment }) {
  const [chosen, choose] = useAddressed("stacks", null, { visit: true });
  const [from, setFrom] = useAddressed("from", "outermost", { visit: true });
  const [wanted, setWanted] = useAddressed("find", "");
  const then = useMemo(() => moment && kindOf(moment), [moment]);
  const kinds = then ? [["then", then], ...ofRun] : ofRun;
  if (kinds.length === 0) return null;
  const [name, kind] = kinds.find(([key]) => key === chosen) ?? kinds[0];
  const inwards = from !== "innermost";
  const words = wordsOf(wanted);
  const rows = () =>
    [...kind.rows]
      .sort((a, b) => kind.value(b) - kind.value(a))
      .map((row) => [
        { text: kind.text(kind.value(row)), value: kind.value(row), unit: kind.text === bytesText ? "B" : "" },
        row.stack
          .map((frame) => shortFunction(frame.function))
          .reverse()
          .join(" › ") || "(no call stack)",
      ]);
  return (
    <Section
      id="flame"
      title="Call stacks"
      about={`${kind.about} A frame is as wide as its part; what ${inwards ? "it calls" : "calls it"} is below it.`}
      tools={
        <>
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
        says={words.length > 0 && foundText(kind, words)}
      />
      <Flame kind={kind} inwards={inwards} words={words} selected={selected} select={select} />
      <AsTable
        caption="The call stacks as a table"
        columns={[[kind.title, "number"], ["From the outermost frame"]]}
        rows={rows}
      />
    </Section>
  );
}
