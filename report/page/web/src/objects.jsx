// report/page/web/src/objects.jsx — objects of the driver's: how many were made, ended and left, by call stack.
import { CallRows, processFact } from "./calls.jsx";
import { report } from "./data.js";
import { speedText, stacksText, sureText } from "./growth.jsx";
import { Section } from "./parts.jsx";
import { bytesText, counted, grouped, timeText } from "./words.js";

export const nounOf = (object) => (object === "graph_object" ? "graph" : object.replaceAll("_", " "));

/** "at least 61 KiB each (to 66 KiB, from 1,000)" */
function takenText({ objects, least, most, least_each: leastEach, most_each: mostEach }) {
  const ofEach = mostEach !== null;
  const from = ofEach ? `from ${grouped(objects)}` : `${grouped(objects)} measured`;
  const [low, high] = ofEach ? [leastEach, mostEach] : [least, most];
  const each = ofEach ? " each" : "";
  if (low === 0) return `at most ${bytesText(high)}${each} (${from})`;
  return `at least ${bytesText(low)}${each} (to ${bytesText(high)}, ${from})`;
}

function objectRow(row) {
  const { made, ended, alive, growth, device, library } = row;
  return {
    word: nounOf(row.object),
    tone: row.class === "growing" ? "bad" : "",
    place: row,
    what: [
      library,
      growth && speedText(growth),
      row.taken && `takes ${takenText(row.taken)}`,
      device !== null && `device ${device}`,
      stacksText(row),
    ]
      .filter(Boolean)
      .join(", "),
    amount: `${grouped(alive)} left`,
    facts: [
      ["Made", grouped(made)],
      ["Ended", grouped(ended)],
      ["Left at the end", alive > 0 ? `${grouped(alive)}, ${row.class}` : "none"],
      ...(row.alive_at_once > 0 ? [["At once", `at least ${grouped(row.alive_at_once)}`]] : []),
      ...(row.taken ? [["Of the device's memory", takenText(row.taken)]] : []),
      ...(growth ? [["Speed", speedText(growth)], ["How sure", sureText(growth)]] : []),
      ...(library ? [["Library", library]] : []),
      ["When", `${timeText(row.first_ns)} to ${timeText(row.last_ns)}`],
      ...processFact(row),
    ],
    calls: [[`Made by ${row.api}`, row]],
  };
}

/** "stream: 4 made, 3 ended, 1 left": a sentence for each kind, over all processes. */
function sumsText() {
  const sums = new Map();
  for (const { object, made, ended, alive } of report.processes.flatMap((process) => process.objects ?? [])) {
    const sum = sums.get(object) ?? [0, 0, 0];
    sums.set(object, [sum[0] + made, sum[1] + ended, sum[2] + alive]);
  }
  return [...sums]
    .map(([object, [made, ended, alive]]) => `${counted(made, nounOf(object))} made, ${grouped(ended)} ended, ${grouped(alive)} left`)
    .join("; ");
}

export function Objects() {
  if (!(report.objects?.length > 0)) return null;
  return (
    <Section id="objects" title="Objects" about={`${sumsText()}. The driver has memory for them that no allocation shows.`}>
      <CallRows id="object" rows={report.objects.map(objectRow)} />
    </Section>
  );
}
