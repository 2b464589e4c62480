// report/page/web/src/find.jsx — one search over all of the page; what is found leads to where it is.
import { useEffect, useState } from "preact/hooks";
import { follow } from "./address.js";
import { ownFrame, placeText } from "./data.js";
import { Dialog } from "./dialog.jsx";
import { found, foundText, prepare } from "./found.js";
import { Search } from "./parts.jsx";
import { grouped } from "./words.js";

/** Arrow keys go from the field to what was found, and back; Enter in the field takes the first. */
function onKey(event, close) {
  const stops = [...event.currentTarget.querySelectorAll("input, button")];
  const at = stops.indexOf(document.activeElement);
  const acts = {
    ArrowDown: () => stops[Math.min(at + 1, stops.length - 1)].focus(),
    ArrowUp: () => stops[Math.max(at - 1, 0)].focus(),
    Enter: at === 0 && (() => stops[1]?.click()),
    Escape: close, // a browser would empty the field first
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

function Result({ name, row, amount, choose }) {
  return (
    <li>
      <button type="button" onClick={choose}>
        <span class="result-place">
          {row ? <code>{name}</code> : name}
          {row && <span class="dim">{[placeText(ownFrame(row)), row.apart].filter(Boolean).join(" · ")}</span>}
        </span>
        <span class="number">{amount}</span>
      </button>
    </li>
  );
}

/** @param {{close: () => void}} props */
function Results({ close }) {
  const [wanted, setWanted] = useState("");
  useEffect(() => {
    const drawn = setTimeout(prepare);
    return () => clearTimeout(drawn);
  }, []);
  const lists = found(wanted);
  return (
    <div class="results" onKeyDown={(event) => onKey(event, close)}>
      <Search
        first
        label="Search the whole page"
        placeholder="A function, file, module, range, test, mark, …"
        value={wanted}
        onChange={setWanted}
        says={wanted.trim() && foundText(lists)}
      />
      {lists.map(({ title, part, all, rows }) => (
        <div key={`${part} ${title}`}>
          <h3>
            {title} <span class="dim">{all > rows.length ? `${rows.length} of ${grouped(all)}` : ""}</span>
          </h3>
          <ul class="plain">
            {rows.map((one, at) => (
              <Result
                key={at}
                {...one}
                choose={() => {
                  close();
                  follow(one.address);
                }}
              />
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

export const Find = ({ open, close }) => (
  <Dialog id="find" title="Search" open={open} close={close}>
    <Results close={close} />
  </Dialog>
);
