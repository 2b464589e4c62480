// report/page/web/src/misuse.jsx — frees that were wrong, and memory that was written where it must not be.
import { CallRows, callAt, processFact } from "./calls.jsx";
import { report } from "./data.js";
import { Section } from "./parts.jsx";
import { bytesText, counted, grouped, timeText } from "./words.js";

const wrongFrees = report.misuse.reduce((sum, row) => sum + row.calls, 0);
const damagedBlocks = report.damage.reduce((sum, row) => sum + row.times, 0);

/** "2 wrong frees, 1 damaged block"; nothing where there are none. */
const misuseText = [
  wrongFrees > 0 && counted(wrongFrees, "wrong free"),
  damagedBlocks > 0 && counted(damagedBlocks, "damaged block"),
]
  .filter(Boolean)
  .join(", ");

/** "256 bytes into a device block of 1 MiB"; nothing where no block is known. */
function blockText({ memory, offset, bytes }) {
  if (memory === null) return "";
  return `${offset > 0 ? `${grouped(offset)} bytes into a ` : ""}${memory} block of ${bytesText(bytes)}`;
}

function freeRow(row) {
  const block = blockText(row);
  return {
    word: row.kind,
    tone: "bad",
    place: row.call,
    what: [`${row.call.api} of ${row.address}`, block].filter(Boolean).join(", "),
    amount: row.calls > 1 ? `${grouped(row.calls)} times` : "",
    facts: [
      ["Address", row.address],
      ["Block", block || "none is known there"],
      ["Answer", row.result_name],
      ...(row.calls > 1 ? [["Last", timeText(row.last_ns)]] : []),
      ...processFact(row),
    ],
    calls: [
      ...callAt("Called", row.call),
      ...callAt("Allocated", row.allocation),
      ...callAt(row.kind === "free-after-context" ? "Context gone" : "First freed", row.ended),
    ],
  };
}

/** "8 bytes at offset 16", "1 byte, the first 4 bytes after its end" */
function wrongBytesText({ kind, offset, wrong_bytes: wrong, block_bytes: size }) {
  const bytes = counted(wrong, "byte");
  if (offset < 0) return `${bytes}, the first ${counted(-offset, "byte")} before it`;
  if (kind === "overrun" && size > 0 && offset >= size)
    return `${bytes}, the first ${counted(offset - size + 1, "byte")} after its end`;
  return `${bytes} at offset ${offset}`;
}

function damageRow(row) {
  const block = row.block_bytes === null ? "a block" : `a block of ${bytesText(row.block_bytes)}`;
  return {
    word: row.kind,
    tone: "bad",
    place: row.allocation ?? row.noticed,
    what: `${block}: ${wrongBytesText(row)}`,
    amount: row.times > 1 ? `${grouped(row.times)} times` : "",
    facts: [
      ["Block", `${block} at ${row.address}`],
      ["Written", wrongBytesText(row)],
      ...(row.times > 1 ? [["Last", timeText(row.last_ns)]] : []),
      ...processFact(row),
    ],
    calls: [
      ...callAt("Allocated", row.allocation),
      ...callAt("Freed", row.freed),
      [`Noticed at ${timeText(row.noticed.at_ns)}: the write was before`, row.noticed],
    ],
  };
}

export function Misuse() {
  if (!misuseText) return null;
  return (
    <Section id="misuse" title="Misuse" about={`${misuseText}, with the calls that led to ${wrongFrees + damagedBlocks === 1 ? "it" : "them"}.`}>
      {wrongFrees > 0 && (
        <>
          <h3>Wrong frees</h3>
          <CallRows id="wrong-free" rows={report.misuse.map(freeRow)} open />
        </>
      )}
      {damagedBlocks > 0 && (
        <>
          <h3 class="below">Written while it was free, or beyond a block</h3>
          <CallRows id="damage" rows={report.damage.map(damageRow)} open />
        </>
      )}
    </Section>
  );
}
