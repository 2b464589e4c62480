// report/page/web/src/main.jsx — the page: its parts in the order in which they are asked for.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { load, showParts, useAddressed } from "./address.js";
import { Check } from "./check.jsx";
import { Coverage } from "./coverage.jsx";
import { devices, job, only, plan, processText, report } from "./data.js";
import { Diff } from "./diff.jsx";
import { Find } from "./find.jsx";
import { FINDINGS } from "./findings.jsx";
import { Flames } from "./flame.jsx";
import { Headline } from "./headline.jsx";
import { HELD } from "./held.js";
import { Histograms } from "./histograms.jsx";
import { Job, JOB_PARTS } from "./job/job.jsx";
import { Keys, useKeys } from "./keys.jsx";
import { Leaks } from "./leaks.jsx";
import { Peak } from "./peak.jsx";
import { Plan } from "./plan/plan.jsx";
import { RANGE } from "./range.jsx";
import { Ranks } from "./ranks.jsx";
import { Segments } from "./segments.jsx";
import { Tests } from "./tests.jsx";
import { useTheme } from "./theme.js";
import { Timeline } from "./timeline.jsx";
import { fileName } from "./words.js";

/** What may be there, in the order of the page. */
const PARTS = [
  ["overview", "Overview"],
  ["ranks", "Processes"],
  ...JOB_PARTS,
  ["scale", "Scale"],
  ["policies", "Policies"],
  ["check", "Budgets"],
  ["diff", "Compared"],
  ["tests", "Tests"],
  ["timeline", "Timeline"],
  ["leaks", HELD.part],
  ...FINDINGS.map(({ id, title }) => [id, title]),
  ["flame", "Call stacks"],
  ["peak", "Peak"],
  ["pins", "Pinned"],
  ["segments", "Segments"],
  ["sizes", "Sizes"],
  ["coverage", "Coverage"],
];
/** Where the page of a command begins. */
const VIEWS = { leaks: "leaks", timeline: "timeline", peak: "peak", frag: "segments", churn: "sizes" };

const IconButton = ({ label, onClick, children }) => (
  <button type="button" class="icon" onClick={onClick} aria-label={label} title={label}>
    {children}
  </button>
);

/** @param {{show: (what: "find" | "keys") => void}} props what opens a dialog over the page */
function Bar({ parts, theme, changeTheme, show }) {
  return (
    <header>
      <nav aria-label="Parts of the page">
        <a class="name" href="#overview">
          vramscope
        </a>
        <ul>
          {parts.map(([id, title]) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ul>
      </nav>
      {only !== null && (
        <button type="button" class="only" onClick={() => load("process", null)}>
          {processText(only)} alone ✕<span class="hidden">: show all processes</span>
        </button>
      )}
      <div class="icons">
        <IconButton label="Search (/)" onClick={() => show("find")}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5" />
            <path d="M10.5 10.5 14 14" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
          </svg>
        </IconButton>
        <IconButton label="Keys (?)" onClick={() => show("keys")}>
          ?
        </IconButton>
        <button
          type="button"
          class="icon theme"
          onClick={changeTheme}
          aria-label={theme === "dark" ? "Light colours" : "Dark colours"}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" />
            <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
          </svg>
        </button>
      </div>
    </header>
  );
}

const LEAK = { text: (row) => row.id, value: (text) => report.leaks.find(({ id }) => String(id) === text) };

/** "1.4": the fifth moment of the second device. */
const MOMENT = {
  text: ({ device, id }) => `${devices.indexOf(device)}.${id}`,
  value(text) {
    const [device, at] = text.split(".");
    const moment = devices[device]?.moments[at];
    return moment && { device: devices[device], ...moment };
  },
};

function Report({ theme }) {
  const [selected, select] = useAddressed("leak", null, { form: LEAK, visit: true });
  const [moment, chooseMoment] = useAddressed("moment", null, { form: MOMENT });
  const [range, chooseRange] = useAddressed("range", null, { form: RANGE, visit: true });
  // What is shown is of one of them.
  const setMoment = (next) => {
    if (range) chooseRange(null, next === null);
    chooseMoment(next);
  };
  const setRange = (next, visit) => {
    if (moment) chooseMoment(null);
    chooseRange(next, visit);
  };
  return (
    <>
      <Headline select={select} />
      <Ranks />
      <Check />
      <Diff />
      <Tests />
      <Timeline selected={selected} theme={theme} moment={moment} setMoment={setMoment} range={range} setRange={setRange} />
      <Leaks selected={selected} select={select} moment={moment} range={range} />
      {FINDINGS.map(({ id, View }) => (
        <View key={id} />
      ))}
      <Flames selected={selected} select={select} moment={moment} range={range} />
      <Peak range={range} />
      <Segments />
      <Histograms range={range} />
      <Coverage />
    </>
  );
}

function Page() {
  const [theme, changeTheme] = useTheme();
  const [parts, setParts] = useState([]);
  const [over, show] = useState(null); // the dialog that is open
  useKeys({ "/": () => show("find"), "?": () => show("keys") });
  useEffect(() => {
    setParts(PARTS.filter(([id]) => document.getElementById(id)));
    showParts(VIEWS[report.view]);
  }, []);
  return (
    <>
      <Bar parts={parts} theme={theme} changeTheme={changeTheme} show={show} />
      <main>{plan ? <Plan theme={theme} /> : job ? <Job /> : <Report theme={theme} />}</main>
      <Find open={over === "find"} close={() => show(null)} />
      <Keys open={over === "keys"} close={() => show(null)} />
    </>
  );
}

const program = plan ? plan.answer?.device.program : (job ?? report.processes[0])?.program;
document.title = [program && fileName(program), plan && "plan", job && "job", "vramscope"].filter(Boolean).join(" · ");
render(<Page />, document.getElementById("page"));
