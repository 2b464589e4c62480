// report/page/web/src/calls.jsx — rows of calls: what happened, in a line, and when it is opened what led to it.
import { useEffect, useState } from "preact/hooks";
import { useAddressed } from "./address.js";
import { functionText, ownFrame, placeText, processText, report, wholeFunction } from "./data.js";
import { Facts, Stack } from "./parts.jsx";
import { grouped, timeText } from "./words.js";

const AT_ONCE = 25;
const NONE = -1;
const NUMBER = { text: String, value: (text) => (/^-?\d+$/.test(text) ? Number(text) : undefined) };

/** [what a stack is of, its row] of a call with its time; nothing: the call is not known. */
export const callAt = (what, call) => (call ? [[`${what} at ${timeText(call.at_ns)}, ${call.api}`, call]] : []);

/** The fact that tells processes apart. */
export const processFact = (row) =>
  report.process_count > 1 ? [["Process", processText(row.process)]] : [];

function CallRow({ id, row, open, toggle }) {
  const { word, tone, place, what, amount, facts, calls } = row;
  const where = [placeText(ownFrame(place)), what].filter(Boolean).join(" · ");
  return (
    <li class={`leak call ${open ? "open" : ""}`}>
      <button type="button" aria-expanded={open} aria-controls={`${id}-more`} onClick={toggle}>
        <span class={`call-word ${tone ?? ""}`}>{word}</span>
        <span class="leak-place">
          <code title={wholeFunction(place)}>{functionText(place)}</code>
          <span class="dim">{where}</span>
        </span>
        <span class="number call-amount">{amount}</span>
      </button>
      {open && (
        <div class="leak-more" id={`${id}-more`}>
          <Facts facts={facts} />
          <div class="call-stacks">
            {calls.map(([title, call]) => (
              <div key={title}>
                <h4>{title}</h4>
                <Stack row={call} />
              </div>
            ))}
          </div>
        </div>
      )}
    </li>
  );
}

/**
 * @param {{id: string, open?: boolean, rows: {word: string, tone?: string, place: object, what?: string, amount?: string,
 *          facts: [string, string][], calls: [string, object][]}[]}} props
 *        `id`: one for each list; `open`: whether the first is open from the beginning; of a row, `place`: the call that
 *        it is known by, `calls`: what each stack is of; `number`: by which the address names it, else its place in the list
 */
export function CallRows({ id, rows, open }) {
  const [opened, setOpened] = useAddressed(id, open ? 0 : NONE, { form: NUMBER });
  const [shown, setShown] = useState(AT_ONCE);
  const numberOf = (row, at) => row.number ?? at;
  useEffect(() => {
    const at = rows.findIndex((row, number) => numberOf(row, number) === opened);
    if (at >= shown) setShown(at + 1);
  }, [opened]);
  const left = rows.length - shown;
  return (
    <>
      <ul class="leaks">
        {rows.slice(0, shown).map((row, at) => {
          const number = numberOf(row, at);
          const isOpen = number === opened;
          return (
            <CallRow
              key={number}
              id={`${id}-${number}`}
              row={row}
              open={isOpen}
              toggle={() => setOpened(isOpen ? NONE : number)}
            />
          );
        })}
      </ul>
      {left > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + 10 * AT_ONCE)}>
          {grouped(left)} more
        </button>
      )}
    </>
  );
}
