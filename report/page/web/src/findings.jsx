// report/page/web/src/findings.jsx — the kinds of finding beside leaks, in the order of the page: a row for each.
import { ByOwner } from "./by_owner.jsx";
import { Contexts } from "./contexts.jsx";
import { Growth } from "./growth.jsx";
import { Misuse } from "./misuse.jsx";
import { Objects } from "./objects.jsx";
import { Open, openLists, openText } from "./open.jsx";
import { Refused } from "./refused.jsx";
import { Shortages } from "./shortages.jsx";
import { Suppressed, suppressedText } from "./suppressed.jsx";
import { Workspaces } from "./workspaces.jsx";

/**
 * `found`: what the overview says of it, where neither a headline nor a number there does.
 * @type {{id: string, title: string, View: Function, found?: string[]}[]}
 */
export const FINDINGS = [
  { id: "shortages", title: "Out of memory", View: Shortages },
  { id: "misuse", title: "Misuse", View: Misuse },
  { id: "growth", title: "Growth", View: Growth },
  { id: "objects", title: "Objects", View: Objects },
  { id: "workspaces", title: "Workspaces", View: Workspaces },
  { id: "contexts", title: "Contexts", View: Contexts },
  { id: "by-owner", title: "Owners", View: ByOwner },
  { id: "refused", title: "Refused", View: Refused },
  { id: "open", title: "Open", View: Open, found: openLists.map(([name]) => openText[name]()) },
  { id: "suppressed", title: "Suppressed", View: Suppressed, found: [suppressedText] },
];
