// report/page/web/src/headline.jsx — the answer: does it leak, where, how fast, what is the peak.
import { tellApart } from "./apart.js";
import { CHECKS } from "./check.jsx";
import {
  allocatedAtPeak,
  check,
  deviceText,
  diff,
  functionText,
  highest,
  only,
  ownFrame,
  placeText,
  report,
  wholeFunction,
} from "./data.js";
import { COMPARISONS, worseText } from "./diff.jsx";
import { FINDINGS } from "./findings.jsx";
import { HELD } from "./held.js";
import { ownerColour, Swatch } from "./owners.jsx";
import { bytesText, counted, grouped, growthText, percentText, perSecondText, rateText, shortTime, stepNoun, timeText } from "./words.js";

const PEAK_PARTS = 5;
const TOP_LEAKS = 3;

const fastest = report.leaks
  .filter((leak) => leak.class === "growing" && leak.growth?.bytes_per_step > 0)
  .sort((a, b) => b.growth.bytes_per_second - a.growth.bytes_per_second)[0];
// What is freed at exit grows all the same.
const growing = fastest ?? report.growth.find((row) => row.rate.bytes_per_step > 0);
const rate = growing?.growth ?? growing?.rate;
const shortageCount = report.shown.reduce((sum, process) => sum + process.out_of_memory_count, 0);

/** Where the page tells more of a kind. */
const PARTS = {
  "out-of-memory": "shortages",
  misuse: "misuse",
  damage: "misuse",
  leaks: "leaks",
  growth: "growth",
  "growing-objects": "open",
  workspaces: "workspaces",
  "failed-calls": "refused",
};
const QUIET = ["inconclusive", "nothing-allocated", "clean"]; // they tell of nothing that was found

/** A program that runs on is not judged: what it holds comes first. */
function heldText() {
  const { totals } = report;
  if (report.view === "snapshot") return `Holds ${bytesText(totals.leaked_bytes)} now`;
  if (report.until_ns !== null)
    return `Held ${bytesText(totals.leaked_bytes)} at ${shortTime(report.until_ns)}`;
  return "";
}

/** What the page says first, and the findings that follow it. */
function headlines() {
  const held = heldText();
  const found = held ? report.findings.filter(({ kind }) => !QUIET.includes(kind)) : report.findings;
  const [first, ...others] = held ? [{ kind: "inconclusive", title: held, sentence: held }, ...found] : found;
  return { first, others };
}
const { first: FIRST, others: OTHERS } = headlines();
const tone = QUIET.includes(FIRST.kind) ? FIRST.kind.replace("nothing-allocated", "clean") : "leaks";

/** The rest of a sentence behind its title, as it is: it may begin with a name. */
function restText({ title, sentence }) {
  const rest = sentence.slice(title.length).replace(/^[:,]? /, "");
  return rest && `${rest}.`;
}

/** [where it is told, the words, the tone]: all other findings, and what is in no number of the overview. */
const FOUND = [
  ...OTHERS.map(({ kind, sentence }) => [PARTS[kind] ?? "coverage", sentence, QUIET.includes(kind) ? "" : "bad"]),
  ...FINDINGS.flatMap(({ id, found = [] }) => found.filter(Boolean).map((text) => [id, text, ""])),
];

function Found() {
  if (FOUND.length === 0) return null;
  return (
    <ul class="found" aria-label="What else was found">
      {FOUND.map(([part, text, colour]) => (
        <li key={text}>
          <a class={colour} href={`#${part}`}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Where the headline does not say what was left. */
function leftText() {
  const { totals } = report;
  const from = `${counted(totals.leaked_blocks, "block")}, from ${counted(report.leaks.all, "call stack")}`;
  if (heldText()) return totals.leaked_blocks > 0 ? `${from}.` : "";
  if (report.verdict === "inconclusive" && totals.leaked_blocks > 0)
    return `Up to where it is known, ${bytesText(totals.leaked_bytes)} were not freed: ${from}.`;
  if (report.verdict === "clean" && !QUIET.includes(FIRST.kind))
    return `Nothing ${totals.suppressed_blocks > 0 ? "else " : ""}leaked; ${counted(totals.allocations, "allocation")} seen.`;
  return "";
}

/** What is over its budget, in a check. */
function overText() {
  const over = check.budgets
    .filter((row) => row.state === "failed")
    .map((row) => `${row.name_words} ${row.measured_words}, ${row.limit_words}`);
  const tests = check.tests?.failed ?? 0;
  if (tests > 0) over.push(`${counted(tests, "test")} over budget`);
  if (over.length === 0) return `${counted(check.budgets.length, "budget")}, none exceeded.`;
  return `Over budget: ${over.join("; ")}.`;
}

/** [what is said first, its tone] of a check and of a comparison; nothing: the run's own verdict is. */
function judgedText() {
  if (check) return CHECKS[check.verdict] ?? [check.verdict, ""];
  if (diff) return COMPARISONS[diff.verdict] ?? [diff.verdict, ""];
  return null;
}

export function Figure({ title, value, detail, href, tone }) {
  return (
    <a class={`figure ${tone ?? ""}`} href={href}>
      <span class="figure-title">{title}</span>
      <span class="figure-value">{value}</span>
      <span class="figure-detail">{detail}</span>
    </a>
  );
}

function Figures() {
  const { totals } = report;
  const grows = rateText(rate);
  return (
    <div class="figures">
      <Figure
        title={HELD.title}
        href="#leaks"
        value={bytesText(totals.leaked_bytes)}
        detail={totals.leaked_blocks > 0 ? counted(totals.leaked_blocks, "block") : "nothing"}
      />
      <Figure
        title="Grows"
        href={report.growth.length > 0 ? "#growth" : "#leaks"}
        value={grows ? bytesText(Math.round(rate.bytes_per_step)) : "no"}
        detail={
          grows
            ? [`per ${stepNoun(rate.per)}`, perSecondText(rate)].filter(Boolean).join(", ")
            : "no place grows to the end"
        }
      />
      <Figure
        title="Peak"
        href="#peak"
        value={bytesText(highest ? allocatedAtPeak(highest) : 0)}
        detail={
          highest
            ? `at ${timeText(highest.at_peak.ns)}${
                highest.total_bytes > 0 ? `, of ${bytesText(highest.total_bytes)}` : ""
              }`
            : "no device memory"
        }
      />
      <Figure
        title="Out of memory"
        href={shortageCount > 0 ? "#shortages" : "#timeline"}
        tone={shortageCount > 0 ? "bad" : ""}
        value={shortageCount === 0 ? "never" : counted(shortageCount, "time")}
        detail={
          shortageCount === 0
            ? "no allocation failed for it"
            : `first at ${timeText(report.out_of_memory[0]?.at_ns ?? 0)}`
        }
      />
    </div>
  );
}

function TopLeaks({ select }) {
  const rows = tellApart(report.leaks).slice(0, TOP_LEAKS);
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h2 class="small">{HELD.where}</h2>
      <ol class="top-leaks">
        {rows.map((row) => (
          <li key={row.id}>
            <a href="#leaks" onClick={() => select(row)}>
              <span class="top-bytes">{bytesText(row.bytes)}</span>
              <span class="top-place">
                <code title={wholeFunction(row)}>
                  <Swatch row={row} />
                  {functionText(row)}
                </code>
                <span>
                  {[placeText(ownFrame(row)), row.apart, growthText(row)].filter(Boolean).join(" · ")}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ol>
      {report.leaks.all > rows.length && (
        <p class="about">
          <a href="#leaks">and {counted(report.leaks.all - rows.length, "more call stack")}</a>
        </p>
      )}
    </div>
  );
}

/** The largest call stacks, those of one function together. */
function largestParts(rows, whole) {
  const parts = new Map();
  for (const row of rows) {
    const name = functionText(row);
    const part = parts.get(name) ?? { name, place: placeText(ownFrame(row)), bytes: 0, colour: ownerColour(row) };
    part.bytes += row.bytes;
    parts.set(name, part);
  }
  const sorted = [...parts.values()].sort((a, b) => b.bytes - a.bytes);
  const shown = sorted.slice(0, sorted.length === PEAK_PARTS + 1 ? PEAK_PARTS + 1 : PEAK_PARTS);
  const rest = whole - shown.reduce((sum, part) => sum + part.bytes, 0);
  if (rest > 0) shown.push({ name: "everything else", place: "", bytes: rest, rest: true });
  return shown;
}

const shadeOf = (part, at) => part.colour ?? (part.rest ? "rest" : `shade${at}`);

export function MadeOf({ title, about, rows, whole }) {
  if (!(whole > 0)) return null;
  const parts = largestParts(rows, whole);
  return (
    <div class="panel">
      <h2 class="small">{title}</h2>
      <div class="peak-bar" aria-hidden="true">
        {parts.map((part, at) => (
          <span
            key={part.name}
            class={shadeOf(part, at)}
            style={{ flexGrow: part.bytes }}
            title={part.name}
          />
        ))}
      </div>
      <ul class="peak-parts">
        {parts.map((part, at) => (
          <li key={part.name}>
            <span class={`swatch ${shadeOf(part, at)}`} aria-hidden="true" />
            <span class="peak-name">
              <code>{part.name}</code> <span>{part.place}</span>
            </span>
            <span class="number">{bytesText(part.bytes)}</span>
            <span class="number dim">{percentText(part.bytes, whole)}</span>
          </li>
        ))}
      </ul>
      {about && <p class="about note">{about}</p>}
    </div>
  );
}

/** Why the parts are less than the peak above them. */
function roundingText({ internal, allocated }) {
  if (!(internal > 0)) return "";
  return `What was asked for; rounded up it takes ${bytesText(internal)} more, ${bytesText(allocated)} in all.`;
}

function runText() {
  const { shown } = report;
  if (shown.length === 0) return "";
  const [first] = shown;
  const count = only === null ? report.process_count : 1;
  const names = count === 1 ? `process ${first.pid}` : `${grouped(count)} processes`;
  const device = highest ? ` · ${deviceText(highest).replace(/^process \d+, /, "")}` : "";
  return `${names} · ran ${timeText(Math.max(...shown.map((one) => one.duration_ns)))}${
    count === 1 ? ` and ${first.end.text}` : ""
  }${device}`;
}

export function Headline({ select }) {
  const [first] = report.shown;
  const judged = judgedText();
  return (
    <section id="overview" aria-label="Overview">
      <p class="command">
        <code>{first ? first.command || first.program : ""}</code>
      </p>
      <h1 class={`verdict ${judged ? judged[1] : tone}`}>
        <span class="dot" aria-hidden="true" />
        {judged ? judged[0] : FIRST.title}
      </h1>
      <p class="lead">
        {judged ? (
          <>
            <a href={check ? "#check" : "#diff"}>{check ? overText() : worseText()}</a>{" "}
            <strong>{FIRST.sentence}.</strong>
          </>
        ) : (
          restText(FIRST)
        )}{" "}
        {leftText()}
      </p>
      {report.verdict_reasons.length > 0 && (
        <ul class="reasons">
          {report.verdict_reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <Found />
      <p class="run">{runText()}</p>
      <Figures />
      <div class="panels">
        <TopLeaks select={select} />
        {highest && (
          <MadeOf
            title="What the peak is made of"
            about={roundingText(highest.at_peak.waterfall)}
            rows={highest.peak.stacks}
            whole={highest.peak.bytes}
          />
        )}
      </div>
    </section>
  );
}
