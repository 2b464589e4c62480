// report/page/web/src/parts.jsx — what several views are made of.
import { useState } from "preact/hooks";
import { functionText, ownFrame, placeText, wholeFunction } from "./data.js";

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

/** A table beside a chart, made only when it is opened. */
export function AsTable({ caption, columns, rows }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{caption}</summary>
      {open && <Table caption={caption} columns={columns} rows={rows()} />}
    </details>
  );
}

/**
 * @param {{columns: [string, string?][], rows: any[][], whole?: boolean}} props a column is its title and class;
 *        `whole`: all rows are seen at once
 */
export function Table({ caption, columns, rows, whole }) {
  return (
    <div class={whole ? "scroll whole" : "scroll"} tabIndex={0} role="region" aria-label={caption}>
      <table>
        <thead>
          <tr>
            {columns.map(([title, kind]) => (
              <th scope="col" class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td class={columns[column][1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What a row is called by: its function, where that is, and what tells it from rows that look alike. */
export function Place({ row }) {
  const where = [placeText(ownFrame(row)), row.apart].filter(Boolean).join(" · ");
  return (
    <>
      <code title={wholeFunction(row)}>{functionText(row)}</code>
      {where && <span class="dim"> {where}</span>}
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
};

export function Stack({ row }) {
  if (row.stack.length === 0) return <p class="about">No call stack was recorded.</p>;
  const cut = row.stack_truncated ? "The outermost frames were not recorded." : CUTS[row.stack_cut];
  return (
    <>
    <ol class="stack">
      {row.stack.map((frame, at) => (
        <li key={at} class={at === (row.own ?? 0) ? "own" : frame.library ? "library" : ""}>
          <code>{frame.function}</code>
          <span title={frame.file ?? frame.module ?? ""}>
            {placeText(frame)}
            {frame.inlined ? ", inlined" : ""}
          </span>
        </li>
      ))}
    </ol>
    {cut && <p class="about">{cut}</p>}
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
