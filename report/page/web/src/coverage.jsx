// report/page/web/src/coverage.jsx — what was seen and what was not, and where it ran.
import { report } from "./data.js";
import { Facts, Section } from "./parts.jsx";
import { AsTable } from "./table.jsx";
import { bytesText, counted, grouped } from "./words.js";

const sum = (name) => report.shown.reduce((all, process) => all + process.coverage[name], 0);

/** What of the run is in no number of this page. */
function gaps() {
  const lost = sum("lost_events");
  const names = new Set(report.shown.flatMap((process) => process.coverage.unknown_entry_points));
  const truncated = report.shown.filter((process) => process.coverage.truncated).length;
  return [
    lost > 0 && `${counted(lost, "event")} ${lost === 1 ? "was" : "were"} lost.`,
    sum("damaged_chunks") > 0 && `${counted(sum("damaged_chunks"), "part")} of the logs could not be read.`,
    truncated > 0 &&
      `${counted(truncated, "log")} ${truncated === 1 ? "ends" : "end"} before the program did.`,
    sum("unmatched_frees") > 0 &&
      `${counted(sum("unmatched_frees"), "free")} of memory that was not seen allocated.`,
    sum("missed_frees") > 0 &&
      `${counted(sum("missed_frees"), "free")} not seen: the address was handed out again.`,
    sum("undefined_events") > 0 &&
      `${counted(sum("undefined_events"), "event")} of entry points that the log does not name.`,
    sum("graph_allocations") > 0 &&
      `${counted(sum("graph_allocations"), "allocation")} of graphs, which free them themselves: in no leak.`,
    names.size > 0 &&
      `The program looked up functions that are newer than this vramscope: ${[...names].join(", ")}.`,
    ...report.thinned,
  ].filter(Boolean);
}

/** "JAX, whose allocator is off (XLA_PYTHON_CLIENT_ALLOCATOR=platform)" */
function frameworkText(use) {
  if (!use.bypassed) return use.name;
  return `${use.name}, whose allocator is off${use.bypassed_by ? ` (${use.bypassed_by})` : ""}`;
}

function Run({ process }) {
  const { totals } = process;
  const facts = [
    ["Program", process.command || process.program],
    ["Log", process.log],
    ["Started", process.started || "not known"],
    ["End", process.end.text],
    ["Threads", grouped(process.threads)],
    [
      "Seen",
      `${counted(process.coverage.events, "event")}: ${counted(totals.allocations, "allocation")} of ${bytesText(totals.allocated_bytes)}, ${counted(totals.frees, "free")}`,
    ],
    [
      "By",
      process.coverage.entry_points_seen.join(", ") || "nothing",
    ],
    ["Refused", counted(process.coverage.failed_calls, "call")],
    ["Pool", process.pool?.mode ?? "not known"],
    ["Host memory", `at most ${bytesText(totals.peak_host_bytes)} pinned`],
    ...(process.steps ? [["Steps", `${grouped(process.steps.count)} of ${process.steps.name}`]] : []),
    ...process.frameworks.map((use) => ["Framework", frameworkText(use)]),
    ...process.crashed_in.map((call) => ["Crashed in", call]),
  ];
  return (
    <div class="panel">
      <h3>Process {process.pid}</h3>
      <Facts facts={facts} />
      <AsTable
        caption={`What process ${process.pid} ran on, and its settings`}
        columns={[["Name", "where"], ["Value", "where"]]}
        rows={() => process.info.map((row) => [row.key, row.value])}
      />
    </div>
  );
}

const MOST_SHOWN = 4;

export function Coverage() {
  const missing = gaps();
  return (
    <Section
      id="coverage"
      title="What was seen, and what was not"
      about="Memory that the driver takes for itself, other processes and what was allocated before the program was traced are in no sum but the device's own."
    >
      {missing.length > 0 ? (
        <ul class="gaps">
          {missing.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      ) : (
        <p class="whole">
          Nothing that the program told of is missing: no event was lost, and this page leaves no row out.
        </p>
      )}
      {report.notices.length > 0 && (
        <ul class="gaps">
          {report.notices.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <div class="panels">
        {report.shown.slice(0, MOST_SHOWN).map((process) => (
          <Run key={process.index} process={process} />
        ))}
      </div>
      {report.shown.length > MOST_SHOWN && (
        <p class="about">{grouped(report.process_count - MOST_SHOWN)} more are in the list of processes.</p>
      )}
    </Section>
  );
}
