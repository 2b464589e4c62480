// report/page/web/src/workspaces.jsx — memory that libraries keep for themselves and that grows.
import { CallRows, processFact } from "./calls.jsx";
import { report } from "./data.js";
import { speedText, sureText } from "./growth.jsx";
import { Section } from "./parts.jsx";
import { bytesText, counted } from "./words.js";

/** "workspaces of cuBLAS grow"; nothing where none does. */
const workspacesText =
  report.workspaces?.length > 0
    ? `workspaces of ${[...new Set(report.workspaces.map((row) => row.library))].join(", ")} grow`
    : "";

function workspaceRow(row) {
  return {
    word: row.library,
    tone: "bad",
    place: row,
    what: [speedText(row.rate), row.device !== null && `device ${row.device}`].filter(Boolean).join(", "),
    amount: bytesText(row.bytes),
    facts: [
      ["Library", row.library],
      ["Grew by", `${bytesText(row.bytes)} in ${counted(row.blocks, "block")}`],
      ["Call stacks", row.stacks === 1 ? "one" : `${row.stacks}; this one grows the fastest`],
      ["Speed", speedText(row.rate)],
      ["How sure", sureText(row.rate)],
      ...processFact(row),
    ],
    calls: [[`Taken by ${row.api}`, row]],
  };
}

export function Workspaces() {
  if (!workspacesText) return null;
  return (
    <Section
      id="workspaces"
      title="Workspaces that grow"
      about="A library has a workspace for each of its handles: is a handle made again and again, and never destroyed?"
    >
      <CallRows id="workspace" rows={report.workspaces.map(workspaceRow)} />
    </Section>
  );
}
