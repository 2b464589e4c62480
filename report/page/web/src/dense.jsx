// report/page/web/src/dense.jsx — all segments of a device as one map in the order of their addresses, line below line.
import { useMemo, useState } from "preact/hooks";
import { classOf, Readout } from "./strips.jsx";
import { bytesText, counted } from "./words.js";

const LINES = 32;
const WIDTH = 1000;

const byAddress = (a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1);

/** Blocks and gaps one behind the other, without what lies between segments; `from`: bytes before it. */
function layoutOf(segments) {
  const pieces = [];
  const begins = [];
  let from = 0;
  for (const segment of [...segments].sort(byAddress)) {
    begins.push(from);
    segment.sizes.forEach((size, piece) => {
      pieces.push({ segment, piece, size, from });
      from += size;
    });
  }
  return { pieces, begins, line: Math.max(from / LINES, 1) };
}

/** The last piece that begins at or before so many bytes. */
function pieceAt(pieces, bytes) {
  let [least, most] = [0, pieces.length - 1];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (pieces[middle].from <= bytes) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** What a piece covers, line by line. */
function pathOf({ from, size }, line) {
  let path = "";
  for (let at = from; at < from + size; ) {
    const row = Math.min(Math.floor(at / line), LINES - 1);
    const end = row === LINES - 1 ? from + size : Math.min((row + 1) * line, from + size);
    const [x, width] = [at - row * line, end - at].map((bytes) => ((bytes / line) * WIDTH).toFixed(1));
    path += `M${x} ${row}h${width}v.85h-${width}z`;
    at = end;
  }
  return path;
}

/** One path for each colour, as of strips. */
function pathsOf({ pieces, line }, owners, looked) {
  const paths = new Map();
  for (const one of pieces) {
    const owner = one.segment.owned_by[one.piece];
    const name = classOf(one.segment.states[one.piece], owners[owner]);
    const key = looked !== null && name !== "free" && owner !== looked ? `${name} faded` : name;
    paths.set(key, `${paths.get(key) ?? ""}${pathOf(one, line)}`);
  }
  return [...paths];
}

const beginsPath = ({ begins, line }) =>
  begins.map((from) => `M${((from % line) / line) * WIDTH} ${Math.floor(from / line)}v.85`).join("");

/** @param {{segments: object[], owners: object[], looked: number | null, look: Function}} props as of strips */
export function Dense({ segments, owners, looked, look }) {
  const [at, setAt] = useState(null);
  const layout = useMemo(() => layoutOf(segments), [segments]);
  const paths = useMemo(() => pathsOf(layout, owners, looked), [layout, owners, looked]);
  const { pieces, line } = layout;
  const here = at === null ? null : pieces[at];
  const ownerOf = ({ segment, piece }) => segment.owned_by[piece];
  const toggle = (owner) => look(owner === looked || !(owner >= 0) ? null : owner);
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * LINES);
    const found = pieceAt(pieces, (row + (event.clientX - box.left) / box.width) * line);
    setAt(found);
    if (event.type === "click") toggle(ownerOf(pieces[found]));
  };
  const moved = (key) => {
    if (!here) return 0;
    const next = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      ArrowUp: Math.min(pieceAt(pieces, here.from - line), at - 1),
      ArrowDown: Math.max(pieceAt(pieces, here.from + line), at + 1), // a block may have many lines
    }[key];
    return Math.min(Math.max(next, 0), pieces.length - 1);
  };
  const onKey = (event) => {
    if (event.key === "Escape") return look(null);
    if (event.key === "Enter" && here) return toggle(ownerOf(here));
    if (!event.key.startsWith("Arrow")) return undefined;
    event.preventDefault();
    return setAt(moved(event.key));
  };
  return (
    <>
      <Readout segment={here?.segment} piece={here?.piece} owners={owners} />
      <div
        class="strips"
        tabIndex={0}
        role="application"
        aria-label={`Map of ${counted(segments.length, "segment")} in the order of addresses. Left and right go through the blocks, up and down by a line, Enter shows all blocks of one owner.`}
        onKeyDown={onKey}
      >
        <svg
          class="strip dense"
          viewBox={`0 0 ${WIDTH} ${LINES}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerMove={point}
          onClick={point}
        >
          {paths.map(([name, path]) => (
            <path key={name} class={name} d={path} />
          ))}
          <path class="begins" d={beginsPath(layout)} />
          {here && <path class="current" d={pathOf(here, line)} />}
        </svg>
      </div>
      <p class="about note">
        A line is {bytesText(Math.round(line))}; a mark is where a segment begins. Addresses between segments are left out.
      </p>
    </>
  );
}
