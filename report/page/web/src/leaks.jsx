// report/page/web/src/leaks.jsx — what was never freed, by call stack: search, order, stacks.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAddressed } from "./address.js";
import { tellApart } from "./apart.js";
import { processFact } from "./calls.jsx";
import { callKey, functionText, ownFrame, placeText, report, wholeFunction } from "./data.js";
import { HELD } from "./held.js";
import { Swatch } from "./owners.jsx";
import { Bar, Choice, Facts, Search, Section, Stack } from "./parts.jsx";
import { leakedIn, rangeText } from "./range.jsx";
import {
  bytesText,
  classText,
  counted,
  grouped,
  growthText,
  kindText,
  lineText,
  rateText,
  reachName,
  reachSummary,
  reachText,
  shortFunction,
  timeText,
  wordsOf,
} from "./words.js";

/**
 * How much was alive at the places of leaks at a moment: known for the larger ones; of others, the least that it
 * was for a while.
 */
function aliveAt(moment) {
  const known = new Map();
  for (const row of moment.rows()) known.set(`${callKey(row)} ${row.memory}`, row.bytes);
  return new Map(
    report.leaks
      .filter(
        (leak) => leak.process === moment.device.process.index && leak.device === moment.device.device,
      )
      .map((leak) => {
        const [ns, bytes] = leak.alive;
        const at = ns.findIndex((time) => time >= moment.ns);
        return [leak, known.get(`${callKey(leak)} ${leak.memory}`) ?? bytes[at] ?? 0];
      }),
  );
}

const AT_ONCE = 25;
const speed = (row) => row.growth?.bytes_per_second ?? 0;
const ORDERS = {
  bytes: ["Size", (a, b) => b.bytes - a.bytes],
  rate: ["Speed", (a, b) => speed(b) - speed(a) || b.bytes - a.bytes],
  blocks: ["Blocks", (a, b) => b.blocks - a.blocks],
  first: ["First seen", (a, b) => a.first_ns - b.first_ns],
};

/**
 * What a moment or a range adds to the rows: the bytes of each (null: not known), what its order is called, how it is
 * said, the times that are marked, and what it says of the list. Rows that have nothing in a range are left out.
 */
function thenOf(moment, range) {
  if (range)
    return {
      bytes: leakedIn(range),
      order: "New in range",
      when: "in it",
      times: [range.from_ns, range.to_ns],
      about: `${HELD.about}, of what was allocated from ${rangeText(range)}: "in it" is that part of each.`,
      has: (bytes) => bytes !== 0 && bytes !== undefined,
    };
  return (
    moment && {
      bytes: aliveAt(moment),
      order: "Alive then",
      when: "then",
      times: [moment.ns],
      about: `${HELD.about}, and what was alive at these places at ${timeText(moment.ns)}.`,
      has: () => true,
    }
  );
}
const thenOrder = ({ order, bytes }) => [order, (a, b) => (bytes.get(b) ?? 0) - (bytes.get(a) ?? 0) || b.bytes - a.bytes];
function thenText(row, { bytes, when }) {
  const part = bytes.get(row);
  if (part === undefined) return counted(row.blocks, "block");
  if (part === null) return `not known ${when}`;
  return part > 0 ? `${bytesText(part)} ${when}` : `none ${when}`;
}

const textOf = new Map(
  report.leaks.map((row) => [
    row,
    [
      row.api,
      row.class,
      row.phase,
      reachSummary(row),
      ...row.stack.flatMap((frame) => [frame.function, lineText(frame), frame.module]),
    ]
      .join("\n")
      .toLowerCase(),
  ]),
);

/** What was alive at a place over the run. */
export function Sparkline({ row, times = [] }) {
  const [ns, bytes] = row.alive;
  if (ns.length < 2) return <span class="spark" />;
  const [width, height] = [96, 22];
  const most = Math.max(...bytes, 1);
  const end = Math.max(ns.at(-1), 1);
  let path = `M0 ${height}`;
  bytes.forEach((value, at) => {
    const y = (height - 1 - (value / most) * (height - 2)).toFixed(1);
    path += `V${y}H${((ns[at] / end) * width).toFixed(1)}`;
  });
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`alive over the run: ${bytesText(bytes[0])} first, ${bytesText(bytes.at(-1))} at the end`}
    >
      <path class="area" d={`${path}V${height}Z`} />
      <path class="edge" d={path.replace(/^M0 \d+V/, "M0 ")} />
      {times.map((time) => (
        <path key={time} class="then" d={`M${((Math.min(time, end) / end) * width).toFixed(1)} 0V${height}`} />
      ))}
    </svg>
  );
}

const rangesText = (row) =>
  `${row.phase ?? ""}${row.phases_differ ? (row.phase ? "/…" : "several NVTX ranges") : ""}`;

/** What is no leak has a kind, and no class of leaks. */
const isOpen = ({ kind }) => ["unclosed-import", "never-destroyed", "graph-owned"].includes(kind);

export function factsOf(row) {
  return [
    ["Kind", isOpen(row) ? kindText(row) : `${kindText(row)}, ${classText(row)}`],
    ["Allocated by", `${row.api}${row.memory === "device" ? "" : `, ${row.memory} memory`}`],
    [
      "When",
      row.blocks === 1 ? timeText(row.first_ns) : `${timeText(row.first_ns)} to ${timeText(row.last_ns)}`,
    ],
    ...(growthText(row)
      ? [
          [
            row.class === "growing" ? "Grows" : "Perhaps grows",
            `${rateText(row.growth)}, ${bytesText(speed(row))} a second, over ${counted(row.growth.steps, row.growth.per)}`,
          ],
        ]
      : []),
    ...(row.phase || row.phases_differ ? [["In", rangesText(row)]] : []),
    ...(row.names ? [["Named", row.names.join(", ")]] : []),
    ...(row.reach ?? []).map((group) => [reachName(group), reachText(group)]),
    ...(row.reach_more > 0 ? [["Held", `also by ${counted(row.reach_more, "other holder")}`]] : []),
    ...(row.reach_freed > 0 ? [["Freed", `${counted(row.reach_freed, "block")} of these, after the search`]] : []),
    ...(row.shared_blocks > 0 ? [["Shared", `${counted(row.shared_blocks, "block")}, which others may have open`]] : []),
    ...(row.device !== null ? [["Device", String(row.device)]] : []),
    ...processFact(row),
    ...(row.thread_count > 1 ? [["Threads", grouped(row.thread_count)]] : []),
  ];
}

const titleOf = (row) =>
  `${bytesText(row.bytes)} in ${counted(row.blocks, "block")}, ${functionText(row)} ${placeText(ownFrame(row))}`;

function LeakRow({ row, most, open, toggle, then }) {
  const id = `leak-${row.id}`;
  const facts = open && factsOf(row);
  return (
    <li class={`leak ${open ? "open" : ""}`} id={id}>
      <button type="button" aria-expanded={open} aria-controls={`${id}-more`} onClick={() => toggle(row)}>
        <span class="leak-bytes">
          <span class="number">{bytesText(row.bytes)}</span>
          <Bar part={row.bytes} whole={most} />
        </span>
        <span class={`leak-blocks number ${then?.bytes.get(row) > 0 ? "" : "dim"}`}>
          {then ? thenText(row, then) : counted(row.blocks, "block")}
        </span>
        <Sparkline row={row} times={then?.bytes.has(row) ? then.times : []} />
        <span class="leak-place">
          <code title={wholeFunction(row)}>
            <Swatch row={row} />
            {functionText(row)}
          </code>
          <span class="dim">
            {[placeText(ownFrame(row)), row.apart, reachSummary(row)].filter(Boolean).join(" · ")}
          </span>
        </span>
        <span class={`tag ${row.class}`}>
          {(row.class === "growing" && rateText(row.growth)) || classText(row)}
        </span>
      </button>
      {open && (
        <div class="leak-more" id={`${id}-more`}>
          <Facts facts={facts} />
          <div>
            <Stack row={row} title={titleOf(row)} facts={facts} />
          </div>
        </div>
      )}
    </li>
  );
}

function Rows({ rows, selected, select, then }) {
  const [shown, setShown] = useState(AT_ONCE);
  const list = useRef(null);
  const at = selected ? rows.indexOf(selected) : -1;
  useEffect(() => {
    if (at >= shown) setShown(at + 1);
  }, [at]);
  useEffect(() => {
    if (selected) document.getElementById(`leak-${selected.id}`)?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const most = rows.reduce((size, row) => Math.max(size, row.bytes), 0);
  const left = rows.length - shown;
  return (
    <>
      <ul class="leaks" ref={list}>
        {rows.slice(0, shown).map((row) => (
          <LeakRow
            key={row.id}
            row={row}
            most={most}
            open={row === selected}
            then={then}
            toggle={(one) => select(one === selected ? null : one)}
          />
        ))}
      </ul>
      {left > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + 10 * AT_ONCE)}>
          {left > 10 * AT_ONCE
            ? `${grouped(10 * AT_ONCE)} more of ${grouped(left)}`
            : `${grouped(left)} more`}
        </button>
      )}
    </>
  );
}

/** The leaks of a function to which several call stacks lead, as in a recursion. */
function Sums() {
  const sums = report.leaks_by_function;
  if (sums.length === 0) return null;
  return (
    <ul class="plain sums">
      {sums.map((row) => (
        <li key={row.id}>
          {counted(row.stacks, "call stack")} share <code>{shortFunction(row.frame.function)}</code>{" "}
          <span class="dim">{placeText(row.frame)}</span>: {bytesText(row.bytes)} in {counted(row.blocks, "block")},{" "}
          {rateText(row.growth) && row.class === "growing" ? growthText(row) : classText(row)}
        </li>
      ))}
    </ul>
  );
}

export function Leaks({ selected, select, moment, range }) {
  const [wanted, setWanted] = useAddressed("search", "");
  const [chosen, setOrder] = useAddressed("order", null, { visit: true });
  const then = useMemo(() => thenOf(moment, range), [moment, range]);
  if (report.leaks.length === 0)
    return (
      <Section id="leaks" title={HELD.part}>
        <p class="about">
          Nothing was left at the end
          {report.totals.suppressed_blocks > 0
            ? `, but for ${counted(report.totals.suppressed_blocks, "block")} that a rule suppresses`
            : ""}
          .
        </p>
      </Section>
    );
  const orders = then ? { then: thenOrder(then), ...ORDERS } : ORDERS;
  const order = orders[chosen] ? chosen : Object.keys(orders)[0];
  const words = wordsOf(wanted);
  const rows = tellApart(report.leaks)
    .filter((row) => words.every((word) => textOf.get(row).includes(word)) && (!then || then.has(then.bytes.get(row))))
    .sort(orders[order][1]);
  const sumOf = (bytesOf) => bytesText(rows.reduce((sum, row) => sum + bytesOf(row), 0));
  const found = `${counted(rows.length, "call stack")}, ${sumOf((row) => row.bytes)}`;
  return (
    <Section
      id="leaks"
      title={HELD.part}
      about={
        then
          ? then.about
          : `${HELD.about}. The line beside a size is what was alive there over the run.`
      }
      tools={
        <Choice
          label="Order"
          value={order}
          onChange={setOrder}
          options={Object.entries(orders).map(([key, [title]]) => [key, title])}
        />
      }
    >
      <Search
        label="Search the leaks"
        placeholder="Search functions, files, modules, ranges"
        value={wanted}
        onChange={setWanted}
        says={
          range
            ? `${found}, ${sumOf((row) => then.bytes.get(row) ?? 0)} of it in the range`
            : words.length > 0 || rows.length < report.leaks.all
              ? found
              : counted(rows.length, "call stack")
        }
      />
      <Sums />
      <Rows rows={rows} selected={selected} select={select} then={then} />
    </Section>
  );
}
