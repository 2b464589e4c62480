// report/page/web/src/contexts.jsx — the contexts of each process: who opened them, and what was done in them.
import { CallRows, callAt, processFact } from "./calls.jsx";
import { report } from "./data.js";
import { Section } from "./parts.jsx";
import { bytesText, counted, grouped } from "./words.js";

const UNKNOWN = { stack: [] }; // the call of a log that does not say who opened it

/** One context is what every program has. */
const isShown = report.contexts?.length > 1 || report.contexts?.some((row) => row.stray);

function doneText({ allocations, host_allocations: host }) {
  if (allocations === 0) return "nothing was allocated in it";
  return allocations === host ? "host memory alone was allocated in it" : counted(allocations, "allocation");
}

function takenText({ bytes }) {
  if (!bytes) return "not known";
  return bytes.least > 0 ? `${bytesText(bytes.least)} to ${bytesText(bytes.most)}` : `${bytesText(bytes.most)} at most`;
}

const openedWord = { created: "Created", retained: "Retained", seen: "First seen" };

function contextRow(row) {
  const { opened, thread, ended, device } = row;
  return {
    word: device === null ? "context" : `device ${device}`,
    tone: row.stray ? "bad" : "",
    place: opened ?? UNKNOWN,
    what: doneText(row),
    amount: row.allocated_bytes > 0 ? bytesText(row.allocated_bytes) : "",
    facts: [
      ["Context", row.primary ? "the device's primary one" : `${row.id}`],
      ["Opened by", opened ? [opened.api, thread.name || `thread ${thread.tid}`].filter(Boolean).join(", ") : "not recorded"],
      ["Ended", ended ? `by ${ended.api}` : "it was open to the end"],
      ["Allocations", `${grouped(row.allocations)}, ${grouped(row.host_allocations)} of them of host memory`],
      ["Objects made in it", grouped(row.objects)],
      ["Takes itself", takenText(row)],
      ...processFact(row),
    ],
    calls: [...callAt(openedWord[row.opening], opened), ...callAt("Ended", ended)],
  };
}

export function Contexts() {
  if (!isShown) return null;
  return (
    <Section
      id="contexts"
      title="Contexts"
      about="A context takes hundreds of MiB of its device. A thread that has not chosen a device has device 0."
    >
      <CallRows id="context" rows={report.contexts.map(contextRow)} />
    </Section>
  );
}
