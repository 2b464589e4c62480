// report/page/web/src/tests.jsx — the program's tests, each by itself: what it leaked, its peak, its verdict.
import { useState } from "preact/hooks";
import { check, report } from "./data.js";
import { Bar, Choice, Facts, Search, Section, Stack } from "./parts.jsx";
import { bytesText, counted, grouped, timeText, wordsOf } from "./words.js";

const AT_ONCE = 25;
const tests = report.shown.flatMap((process) => process.tests);
const highestPeak = tests.reduce((bytes, test) => Math.max(bytes, test.peak_bytes), 0);
const stateOf = new Map((check?.tests?.rows ?? []).map((row) => [`${row.process} ${row.test}`, row.state]));

/** [the word, its tone]; by the budget, where there is one. */
function verdictOf(test) {
  const state = stateOf.get(`${test.process} ${test.id}`);
  if (test.result === null) return ["did not end", "inconclusive"];
  if (state === "failed") return ["over budget", "leaks"];
  if (state === "unknown") return ["not known", "inconclusive"];
  if (check) return ["kept", "clean"];
  return test.leaked_blocks > 0 ? ["leaks", "leaks"] : ["clean", "clean"];
}

const rank = { leaks: 2, inconclusive: 1, clean: 0 };
const worse = (a, b) => rank[verdictOf(b)[1]] - rank[verdictOf(a)[1]];
const ORDERS = {
  worst: ["Worst first", (a, b) => worse(a, b) || b.leaked_bytes - a.leaked_bytes],
  peak: ["Peak", (a, b) => b.peak_bytes - a.peak_bytes],
  run: ["As they ran", (a, b) => a.process - b.process || a.begin_ns - b.begin_ns],
  name: ["Name", (a, b) => (a.name < b.name ? -1 : 1)],
};

function factsOf(test) {
  return [
    ["Said", test.result ?? "nothing: it did not end"],
    ["Ran", `${timeText(test.begin_ns)} to ${timeText(test.end_ns)}`],
    ["Allocated", counted(test.allocations, "block")],
    ["Peak", `${bytesText(test.peak_bytes)}, ${bytesText(test.growth_bytes)} more than at its beginning`],
    ...(test.freed_later_bytes > 0
      ? [["Freed later", `${bytesText(test.freed_later_bytes)}, when it had ended`]] : []),
    ...(report.process_count > 1 ? [["Process", String(report.processes[test.process].pid)]] : []),
  ];
}

function More({ test, id }) {
  return (
    <div class="leak-more" id={id}>
      <Facts facts={factsOf(test)} />
      <div>
        {test.leaks.length === 0 && <p class="about">Nothing of it was left at the end.</p>}
        {test.leaks.map((leak) => (
          <div class="test-leak" key={leak.id}>
            <p>
              <strong class="number">{bytesText(leak.bytes)}</strong> in {counted(leak.blocks, "block")} from{" "}
              {leak.api}
            </p>
            <Stack row={leak} />
          </div>
        ))}
      </div>
    </div>
  );
}

function TestRow({ test, open, toggle }) {
  const id = `test-${test.process}-${test.id}`;
  const [word, tone] = verdictOf(test);
  return (
    <li class={`leak test ${open ? "open" : ""}`}>
      <button type="button" aria-expanded={open} aria-controls={`${id}-more`} onClick={toggle}>
        <span class={`verdict-word ${tone}`}>{word}</span>
        <span class="test-name" title={test.name}>
          {test.name}
        </span>
        <span class={`number ${test.leaked_blocks > 0 ? "" : "dim"}`}>
          {test.leaked_blocks > 0 ? `${bytesText(test.leaked_bytes)} leaked` : "no leak"}
        </span>
        <span class="leak-bytes test-peak">
          <span class="number">
            {bytesText(test.peak_bytes)} <span class="dim">peak</span>
          </span>
          <Bar part={test.peak_bytes} whole={highestPeak} />
        </span>
      </button>
      {open && <More test={test} id={`${id}-more`} />}
    </li>
  );
}

function aboutText() {
  const all = report.shown.reduce((sum, process) => sum + (process.test_count ?? 0), 0);
  const leaking = tests.filter((test) => test.leaked_blocks > 0).length;
  const unended = tests.filter((test) => test.result === null).length;
  return `${counted(all, "test")}: ${
    leaking === 0 ? "none leaked" : `${grouped(leaking)} leaked`
  }${unended > 0 ? `, ${grouped(unended)} did not end` : ""}. The highest peak is ${bytesText(highestPeak)}.${
    all > tests.length ? ` ${grouped(all - tests.length)} are left out.` : ""
  }`;
}

export function Tests() {
  const [order, setOrder] = useState("worst");
  const [wanted, setWanted] = useState("");
  const [shown, setShown] = useState(AT_ONCE);
  const [open, setOpen] = useState(null);
  if (tests.length === 0) return null;
  const words = wordsOf(wanted);
  const rows = tests
    .filter((test) => words.every((word) => test.name.toLowerCase().includes(word)))
    .sort(ORDERS[order][1]);
  const left = rows.length - shown;
  return (
    <Section
      id="tests"
      title="Tests"
      about={aboutText()}
      tools={
        <Choice
          label="Order of the tests"
          value={order}
          onChange={setOrder}
          options={Object.entries(ORDERS).map(([key, [title]]) => [key, title])}
        />
      }
    >
      <Search
        label="Search the tests"
        placeholder="Search tests"
        value={wanted}
        onChange={setWanted}
        says={counted(rows.length, "test")}
      />
      <ul class="leaks">
        {rows.slice(0, shown).map((test) => (
          <TestRow
            key={`${test.process} ${test.id}`}
            test={test}
            open={test === open}
            toggle={() => setOpen(test === open ? null : test)}
          />
        ))}
      </ul>
      {left > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + 10 * AT_ONCE)}>
          {counted(left, "more test")}
        </button>
      )}
    </Section>
  );
}
