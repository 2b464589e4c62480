// report/page/web/src/main.jsx — the page: its parts in the order in which they are asked for.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { report } from "./data.js";
import { Headline } from "./headline.jsx";
import { Leaks } from "./leaks.jsx";
import { useTheme } from "./theme.js";
import { Timeline } from "./timeline.jsx";

const PARTS = [["overview", "Overview"], ["timeline", "Timeline"], ["leaks", "Leaks"]];
/** Where the page of a command begins. */
const VIEWS = { leaks: "leaks", timeline: "timeline" };

function Bar({ theme, changeTheme }) {
  return (
    <header>
      <nav aria-label="Parts of the page">
        <a class="name" href="#overview">vramscope</a>
        <ul>{PARTS.map(([id, title]) => <li key={id}><a href={`#${id}`}>{title}</a></li>)}</ul>
      </nav>
      <button type="button" class="theme" onClick={changeTheme} aria-label={theme === "dark" ? "Light colours" : "Dark colours"}>
        <svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" /></svg>
      </button>
    </header>
  );
}

function Page() {
  const [theme, changeTheme] = useTheme();
  const [selected, select] = useState(null);
  useEffect(() => {
    const part = VIEWS[report.view];
    if (part && !location.hash) document.getElementById(part)?.scrollIntoView();
  }, []);
  return (
    <>
      <Bar theme={theme} changeTheme={changeTheme} />
      <main>
        <Headline select={select} />
        <Timeline selected={selected} theme={theme} />
        <Leaks selected={selected} select={select} />
      </main>
    </>
  );
}

const program = report.processes[0]?.program;
document.title = program ? `${program.slice(program.lastIndexOf("/") + 1)} · vramscope` : "vramscope";
render(<Page />, document.getElementById("page"));
