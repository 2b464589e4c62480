// report/page/web/src/findings.jsx — the kinds of finding beside leaks, in the order of the page: a row for each.
import { Growth } from "./growth.jsx";
import { Misuse, misuseText } from "./misuse.jsx";
import { Open, openLists, openText } from "./open.jsx";
import { Refused, refusedText } from "./refused.jsx";
import { Shortages } from "./shortages.jsx";
import { Suppressed, suppressedText } from "./suppressed.jsx";
import { Workspaces, workspacesText } from "./workspaces.jsx";

/**
 * `found`: what the overview says of it, where no number there does.
 * @type {{id: string, title: string, View: Function, found?: string[], tone?: string}[]}
 */
export const FINDINGS = [
  { id: "growth", title: "Growth", View: Growth },
  { id: "workspaces", title: "Workspaces", View: Workspaces, found: [workspacesText], tone: "bad" },
  { id: "misuse", title: "Misuse", View: Misuse, found: [misuseText], tone: "bad" },
  { id: "shortages", title: "Out of memory", View: Shortages },
  { id: "refused", title: "Refused", View: Refused, found: [refusedText] },
  { id: "open", title: "Open", View: Open, found: openLists.map(([name]) => openText[name]()) },
  { id: "suppressed", title: "Suppressed", View: Suppressed, found: [suppressedText] },
];
