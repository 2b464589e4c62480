// report/page/web/src/parts.jsx — what several views are made of.
import { useState } from "preact/hooks";
import { functionText, ownFrame, placeText, wholeFunction } from "./data.js";
import { Swatch } from "./owners.jsx";
import { FramePlace, SourceLines } from "./sources.jsx";

export function Section({ id, title, about, children, tools }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <div class="section-head">
        <div>
          <h2 id={`${id}-title`}>{title}</h2>
          {about && <p class="about">{about}</p>}
        </div>
        {tools && <div class="tools">{tools}</div>}
      </div>
      {children}
    </section>
  );
}

/** Buttons of which one is pressed. */
export function Choice({ label, options, value, onChange }) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** @param {{says: any, first?: boolean}} props what is said of what was found; whether a dialog begins with it */
export function Search({ label, placeholder, value, onChange, says, first }) {
  return (
    <div class="search">
      <input
        type="search"
        placeholder={placeholder}
        aria-label={label}
        autofocus={first}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <span class="about" role="status">
        {says}
      </span>
    </div>
  );
}

/**
 * What a row is called by: its function, where that is, and what tells it from rows that look alike.
 * @param {{linked?: boolean}} props whether where it is may be a link: not in a button
 */
export function Place({ row, linked }) {
  const frame = ownFrame(row);
  const place = placeText(frame);
  return (
    <>
      <Swatch row={row} />
      <code title={wholeFunction(row)}>{functionText(row)}</code>
      {(place || row.apart) && (
        <span class="dim">
          {" "}
          {linked ? <FramePlace frame={frame} /> : place}
          {place && row.apart && " · "}
          {row.apart}
        </span>
      )}
    </>
  );
}

/** @param {{facts: [string, any][]}} props */
export const Facts = ({ facts }) => (
  <dl class="facts">
    {facts.map(([name, value], at) => (
      <div key={at}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

const CUTS = {
  "no-unwind-table": "What called this is not known: the code there was compiled without an unwind table.",
  "no-module": "What called this is not known: the code is in no file.",
  "go-stack": "What called this is on a stack of Go's own, which is not walked.",
};

/** Gives the text on. Where a page may not use the clipboard, as over plain HTTP, a selection is copied. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const place = document.createElement("textarea");
  place.value = text;
  document.body.append(place);
  place.select();
  document.execCommand("copy");
  place.remove();
}

/** @param {{text: () => string}} props what is copied, made when it is asked for */
export function Copy({ text, children }) {
  const [said, say] = useState("");
  const done = (word) => {
    say(word);
    setTimeout(() => say(""), 2000);
  };
  return (
    <button
      type="button"
      class="link"
      onClick={() => copy(text()).then(() => done("copied"), () => done("the browser refused"))}
    >
      {children}
      <span role="status">{said && `: ${said}`}</span>
    </button>
  );
}

export const wholePlace = ({ file, line, module }) => (file ? `${file}${line ? `:${line}` : ""}` : (module ?? ""));
const stackText = (row) => row.stack.map((frame) => `${frame.function}  ${wholePlace(frame)}`.trimEnd()).join("\n");

/** For an issue: what it is, what is known of it, and the call stack. */
const markdown = (title, facts, row) =>
  [`**${title}**`, "", ...facts.map(([name, value]) => `- ${name}: ${value}`), "", "```", stackText(row), "```", ""].join("\n");

export function Stack({ row, title, facts }) {
  if (row.stack.length === 0) return <p class="about">No call stack was recorded.</p>;
  const cut = row.stack_truncated ? "The outermost frames were not recorded." : CUTS[row.stack_cut];
  return (
    <>
    <ol class="stack">
      {row.stack.map((frame, at) => (
        <li key={at} class={at === (row.own ?? 0) ? "own" : frame.library ? "library" : ""}>
          <code>{frame.function}</code>
          <span title={frame.file ?? frame.module ?? ""}>
            <FramePlace frame={frame} />
            {frame.inlined ? ", inlined" : ""}
          </span>
          <SourceLines frame={frame} open={at === (row.own ?? 0)} />
        </li>
      ))}
    </ol>
    {cut && <p class="about">{cut}</p>}
    <p class="copy">
      <Copy text={() => stackText(row)}>Copy the stack</Copy>
      {title && <Copy text={() => markdown(title, facts, row)}>Copy as Markdown</Copy>}
    </p>
    </>
  );
}

/** The part that a row has of the most. */
export function Bar({ part, whole }) {
  const width = whole > 0 ? Math.max((100 * part) / whole, part > 0 ? 0.6 : 0) : 0;
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${width}%` }} />
    </span>
  );
}
