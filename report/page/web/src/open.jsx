// report/page/web/src/open.jsx — what was open at the end and is no leak of memory: of others, or without bytes.
import { CallRows } from "./calls.jsx";
import { report } from "./data.js";
import { factsOf } from "./leaks.jsx";
import { Section } from "./parts.jsx";
import { bytesText, counted } from "./words.js";

const blocks = (rows) => rows.reduce((sum, row) => sum + row.blocks, 0);

/** [the list, what its title says, what its rows are] in the order of the page. */
const LISTS = [
  ["unclosed_imports", "Imports that were never closed", "Others' memory: no byte of it is in a sum."],
  ["owners_not_destroyed", "Never destroyed", "Pools, contexts and the like, which have no bytes of their own."],
  ["graph_memory", "Memory of graphs", "All that graphs were given, freed or not: theirs to free."],
  ["held_at_work_end", "Held to the end of the work", "Freed after the last allocation: no leak."],
  ["reservations", "Addresses that were never given back", "They cost no memory, but a program can run out of them."],
];
export const openLists = LISTS.filter(([name]) => report[name]?.length > 0);

/** "1 import never closed" */
export const openText = {
  unclosed_imports: () => `${counted(blocks(report.unclosed_imports), "import")} never closed`,
  owners_not_destroyed: () => `${counted(blocks(report.owners_not_destroyed), "owner")} never destroyed`,
  graph_memory: () => `${counted(blocks(report.graph_memory), "allocation")} of graphs`,
  held_at_work_end: () => `${counted(blocks(report.held_at_work_end), "block")} freed after the last allocation`,
  reservations: () => `${counted(blocks(report.reservations), "reservation")} never given back`,
};

const openRow = (row) => ({
  word: row.memory,
  place: row,
  what: `${row.api}, ${counted(row.blocks, "time")}`,
  amount: row.bytes > 0 ? bytesText(row.bytes) : "",
  facts: factsOf(row),
  calls: [[`Made by ${row.api}`, row]],
});

export function Open() {
  if (openLists.length === 0) return null;
  return (
    <Section
      id="open"
      title="Open at the end"
      about={`${openLists.map(([name]) => openText[name]()).join(", ")}: in no sum of what leaked.`}
    >
      {openLists.map(([name, title, about]) => (
        <div class="open-list" key={name}>
          <h3>{title}</h3>
          <p class="about">{about}</p>
          <CallRows id={name} rows={report[name].map(openRow)} />
        </div>
      ))}
    </Section>
  );
}
