// report/page/web/src/job/job.jsx — many ranks of one job: which are missing, which is different, and in what.
import { useAddressed } from "../address.js";
import { bytesCell, shareCell, shownCell } from "../cells.jsx";
import { functionText, job, placeText, ownFrame, report } from "../data.js";
import { Figure } from "../headline.jsx";
import { Facts, Section } from "../parts.jsx";
import { Table } from "../table.jsx";
import { bytesText, counted, grouped } from "../words.js";
import { Findings, KINDS } from "./findings.jsx";
import { RankButton, RankMap } from "./map.jsx";
import { nounOf, placeOf, rankText, ranksText, valuesText } from "./words.js";

/** What the job's parts are, in the order of its page. */
export const JOB_PARTS = [
  ["ends", "Ends"],
  ["reported", "Reported"],
  ["map", "Ranks"],
  ...KINDS.slice(0, -1).map(({ id, title }) => [id, title]),
  ["headroom", "Headroom"],
  ...KINDS.slice(-1).map(({ id, title }) => [id, title]),
];

/** What is told first: what a program that failed did, or the first finding that is a fault. */
function leadText() {
  const [told] = job.headlines;
  if (told) return `${told.subject}: ${told.words}.`;
  const first = job.findings.find(({ kind }) => kind !== "part" && kind !== "held");
  if (!first) return `No ${job.ranked ? "rank" : "process"} leaks, grows or has what the others lack, as far as their logs show.`;
  const place = placeOf(first);
  return `${first.subject}: ${valuesText(first)} at ${[functionText(place), placeText(ownFrame(place))].filter(Boolean).join(" ")}.`;
}

const total = (name) => job.processes.reduce((sum, process) => sum + process[name], 0);

function Figures() {
  const highest = job.processes.reduce((best, one) => (one.peak_device_bytes > (best?.peak_device_bytes ?? -1) ? one : best), null);
  const leaking = job.processes.filter((process) => process.leaked_bytes > 0).length;
  const [fullest] = job.headroom;
  const missing = job.missing.length;
  return (
    <div class="figures">
      <Figure
        title={job.ranked ? "Ranks" : "Processes"}
        href={missing > 0 ? "#ends" : "#map"}
        tone={missing > 0 ? "bad" : ""}
        value={grouped(job.processes.length)}
        detail={missing > 0 ? `${grouped(missing)} missing${job.world_size ? ` of ${grouped(job.world_size)}` : ""}` : job.world_size ? "none is missing" : "how many there should be is not known"}
      />
      <Figure
        title="Not freed"
        href={`#${job.findings.find(({ leaked_bytes: bytes }) => bytes > 0)?.kind ?? "map"}`}
        value={bytesText(total("leaked_bytes"))}
        detail={leaking > 0 ? `on ${ranksText(leaking)}` : "nothing"}
      />
      <Figure
        title="Highest peak"
        href="#map"
        value={bytesText(highest?.peak_device_bytes ?? 0)}
        detail={highest ? rankText(highest.number) : ""}
      />
      <Figure
        title="Least headroom"
        href={fullest ? "#headroom" : "#map"}
        value={fullest ? bytesText(fullest.free_bytes) : "–"}
        detail={fullest ? `${rankText(fullest.rank)}, of ${bytesText(fullest.total_bytes)}` : "no device's size is known"}
      />
    </div>
  );
}

function Headline() {
  const tone = job.verdict === "inconclusive" ? job.verdict : job.title === "Clean" ? "clean" : "leaks";
  return (
    <section id="overview" aria-label="Overview">
      <p class="command">
        <code>{job.program ?? ""}</code>
      </p>
      <h1 class={`verdict ${tone}`}>
        <span class="dot" aria-hidden="true" />
        {job.title}
      </h1>
      <p class="lead">{leadText()}</p>
      {job.verdict_reasons.length > 0 && (
        <ul class="reasons">
          {job.verdict_reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <p class="run">
        {[ranksText(job.processes.length), job.standings, job.name && `job ${job.name}`, counted(job.places, "call place")].filter(Boolean).join(" · ")}
      </p>
      <Figures />
    </section>
  );
}

/** "was killed by signal 9, the first" */
function endText({ words, crashed, failed, ranks, first }, at) {
  const others = ranks.length > 1 || job.ends.filter((end) => end.crashed || end.failed).length > 1;
  if (at > 0 || !(crashed || failed) || !others) return words;
  return `${words}; ${ranks.length > 1 ? `${rankText(first)} was` : "it was"} the first`;
}

/** What no verdict can be given of. */
function Ends() {
  const facts = [
    ...job.unread.map((text) => ["Not read", text]),
    ...(job.missing.length > 0 ? [["Missing", `${nounOf(job.missing.length)} ${job.missing_words}`]] : []),
    ...job.ends.map((end, at) => [end.crashed ? "Crashed" : end.failed ? "Failed" : "Not known", `${end.subject}: ${endText(end, at)}`]),
  ];
  if (facts.length === 0) return null;
  return (
    <Section id="ends" title="Missing, cut, crashed or failed" about="What these show of leaks is not all; what crashed or failed first comes first.">
      <Facts facts={facts} />
    </Section>
  );
}

/** What reports of ranks tell that is of no call place below. */
function Headlines() {
  const facts = [
    ...job.headlines.map(({ title, subject, words }) => [title, `${subject}: ${words}`]),
    ...job.without_rank.map(({ words }) => ["No rank", words]),
  ];
  if (facts.length === 0) return null;
  return (
    <Section id="reported" title="What reports tell" about="`vramscope report` of such a log has the call stacks. What has no rank, as a launcher, is compared with none.">
      <Facts facts={facts} />
    </Section>
  );
}

function Headroom({ chosen, choose }) {
  if (job.headroom.length === 0) return null;
  return (
    <Section id="headroom" title="Least headroom" about="What was left on a device when the most was reserved there.">
      <Table
        caption="Where the least was left"
        columns={[[job.ranked ? "Rank" : "Process"], ["Device", "number"], ["Left", "number"], ["Share", "number wide"], ["Of", "number"]]}
        rows={job.headroom.map((row) => [
          shownCell(rankText(row.rank), <RankButton number={row.rank} chosen={chosen} choose={choose} />),
          String(row.device ?? "?"),
          bytesCell(row.free_bytes),
          shareCell(row.free_bytes, row.total_bytes),
          bytesCell(row.total_bytes),
        ])}
      />
      {job.run_out_words && <p class="note">Runs out first: {job.run_out_words}.</p>}
    </Section>
  );
}

const LeftOut = () =>
  report.thinned.length > 0 && (
    <Section id="coverage" title="Left out of this page">
      <Facts facts={report.thinned.map((text) => ["Left out", text])} />
    </Section>
  );

const NUMBER = { text: String, value: (text) => (/^\d+$/.test(text) ? Number(text) : undefined) };
const FINDING = { text: (row) => row.id, value: (text) => job.findings[text] };

export function Job() {
  const [chosen, choose] = useAddressed("rank", null, { form: NUMBER, visit: true });
  const [marked, mark] = useAddressed("marked", null, { form: FINDING, visit: true });
  const showInMap = (finding) => {
    mark(finding);
    document.getElementById("map")?.scrollIntoView();
  };
  const part = KINDS.at(-1);
  return (
    <>
      <Headline />
      <Ends />
      <Headlines />
      <RankMap chosen={chosen} choose={choose} marked={marked && new Set(marked.ranks)} unmark={() => mark(null)} />
      {(chosen !== null || marked) && (
        <p class="chips">
          {chosen !== null && (
            <button type="button" class="only" onClick={() => choose(null)}>
              {rankText(chosen)} alone ✕<span class="hidden">: show what is found of all</span>
            </button>
          )}
          {marked && (
            <button type="button" class="only" onClick={() => mark(null)}>
              {marked.subject} in the map ✕<span class="hidden">: show all in the map</span>
            </button>
          )}
        </p>
      )}
      {KINDS.slice(0, -1).map((kind) => (
        <Findings key={kind.id} kind={kind} chosen={chosen} mark={showInMap} />
      ))}
      <Headroom chosen={chosen} choose={choose} />
      <Findings kind={part} chosen={chosen} mark={showInMap} />
      <LeftOut />
    </>
  );
}
