// report/page/web/src/refused.jsx — calls that the driver refused, wrong frees aside.
import { CallRows, processFact } from "./calls.jsx";
import { report } from "./data.js";
import { Section } from "./parts.jsx";
import { bytesText, counted, grouped, timeText } from "./words.js";

const refusedCalls = (report.failed_calls ?? []).reduce((sum, row) => sum + row.calls, 0);
/** "3 refused calls"; nothing where there are none. */
const refusedText = refusedCalls > 0 ? counted(refusedCalls, "refused call") : "";

/** "8 GiB", "1 MiB to 8 GiB"; nothing where no memory was asked for, or it is not known how much. */
function askedText({ least_bytes: least, most_bytes: most }) {
  if (!(most > 0)) return "";
  return least === most ? bytesText(most) : `${bytesText(least)} to ${bytesText(most)}`;
}

function refusedRow(row) {
  const asked = askedText(row);
  const several = row.calls > 1;
  return {
    word: row.result_name,
    place: row,
    what: [row.api, asked && `of ${asked}`].filter(Boolean).join(" "),
    amount: several ? `${grouped(row.calls)} times` : "",
    facts: [
      ["Answer", row.result_name],
      ["Calls", counted(row.calls, "call")],
      ...(asked ? [["Asked for", several ? `${asked}, ${bytesText(row.bytes)} in all` : asked]] : []),
      ["When", several ? `${timeText(row.first_ns)} to ${timeText(row.last_ns)}` : timeText(row.first_ns)],
      ...processFact(row),
    ],
    calls: [[`Called ${row.api}`, row]],
  };
}

export function Refused() {
  if (refusedCalls === 0) return null;
  return (
    <Section
      id="refused"
      title="Refused calls"
      about={`${counted(refusedCalls, "call")} that the driver refused, those of wrong frees aside. A program may try and see: what it does then is its own.`}
    >
      <CallRows id="refused-call" rows={report.failed_calls.map(refusedRow)} />
    </Section>
  );
}
