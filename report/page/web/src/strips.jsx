// report/page/web/src/strips.jsx — segments as strips of blocks; pointer and arrow keys name each of them.
import { useState } from "preact/hooks";
import { ownerColour } from "./owners.jsx";
import { Place } from "./parts.jsx";
import { bytesText, counted } from "./words.js";

const STATES = ["free", "allocated", "pending"];
const [FREE, , PENDING] = [0, 1, 2];
const MOST_SPLIT = 400; // in one strip; of more, the lines between them would hide them

/** The colour of a block: that of its owner's call place, as in every view. @param {object} [owner] its row */
export function classOf(state, owner) {
  if (state === FREE) return "free";
  if (state === PENDING) return "pending";
  return (owner && ownerColour(owner)) ?? "allocated";
}

/** One path for each colour; those of the others are faded where one owner is looked at. */
function pathsOf(segment, owners, looked) {
  const paths = new Map();
  let at = 0;
  segment.sizes.forEach((size, piece) => {
    const owner = segment.owned_by[piece];
    const name = classOf(segment.states[piece], owners[owner]);
    const key = looked !== null && name !== "free" && owner !== looked ? `${name} faded` : name;
    const [x, width] = [at, size].map((bytes) => ((bytes / segment.bytes) * 1000).toFixed(2));
    paths.set(key, `${paths.get(key) ?? ""}M${x} 0h${width}v10h-${width}z`);
    at += size;
  });
  return paths;
}

function Strip({ segment, owners, most, looked, current, onPoint }) {
  const width = Math.max((100 * segment.bytes) / most, 2);
  const before = (piece) => segment.sizes.slice(0, piece).reduce((sum, size) => sum + size, 0);
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    let bytes = ((event.clientX - box.left) / box.width) * segment.bytes;
    let piece = 0;
    while (piece + 1 < segment.sizes.length && bytes >= segment.sizes[piece]) bytes -= segment.sizes[piece++];
    onPoint(piece, event.type === "click");
  };
  return (
    <svg
      class={`strip${segment.sizes.length <= MOST_SPLIT ? " split" : ""}`}
      viewBox="0 0 1000 10"
      preserveAspectRatio="none"
      aria-hidden="true"
      style={{ width: `${width}%` }}
      onPointerMove={point}
      onClick={point}
    >
      {[...pathsOf(segment, owners, looked)].map(([name, path]) => (
        <path key={name} class={name} d={path} />
      ))}
      {current !== null && (
        <path
          class="current"
          d={`M${(before(current) / segment.bytes) * 1000} 0h${(segment.sizes[current] / segment.bytes) * 1000}v10h-${
            (segment.sizes[current] / segment.bytes) * 1000
          }z`}
        />
      )}
    </svg>
  );
}

/** Which block it is, and whose. */
export function Readout({ segment, piece, owners }) {
  if (!segment)
    return (
      <p class="readout about">
        Point at a block, or use the arrow keys in the map, to see whose it is; Enter shows all of that owner.
      </p>
    );
  const owner = owners[segment.owned_by[piece]];
  const offset = segment.sizes.slice(0, piece).reduce((sum, size) => sum + size, 0);
  const state = STATES[segment.states[piece]];
  return (
    <p class="readout" role="status">
      <span class={`swatch ${classOf(segment.states[piece], owner)}`} aria-hidden="true" />
      <span class="number">{bytesText(segment.sizes[piece])}</span>
      <span>{state === "pending" ? "pending: freed, not safe to reuse" : state}</span>
      {owner && (
        <span class="readout-owner">
          <Place row={owner} />
        </span>
      )}
      <code class="dim">
        {segment.address} + {bytesText(offset)}
      </code>
    </p>
  );
}

/** Where an arrow key leads from one block; `at` is the segment and the block in it. */
function moved(segments, at, key) {
  if (!at) return { segment: 0, piece: 0 };
  const pieces = segments[at.segment].sizes.length;
  switch (key) {
    case "ArrowRight":
      return { ...at, piece: Math.min(at.piece + 1, pieces - 1) };
    case "ArrowLeft":
      return { ...at, piece: Math.max(at.piece - 1, 0) };
    case "ArrowDown":
      return { segment: Math.min(at.segment + 1, segments.length - 1), piece: 0 };
    default:
      return { segment: Math.max(at.segment - 1, 0), piece: 0 };
  }
}

/**
 * @param {{segments: object[], owners: object[], looked: number | null, look: (owner: number | null) => void,
 *          sentence: (segment: object) => any}} props `looked`: the owner whose blocks alone have colour
 */
export function Strips({ segments, owners, looked, look, sentence }) {
  const [at, setAt] = useState(null);
  const most = segments.reduce((bytes, segment) => Math.max(bytes, segment.bytes), 1);
  const here = at && segments[at.segment] ? at : null;
  const ownerAt = (one) => segments[one.segment].owned_by[one.piece];
  const toggle = (owner) => look(owner === looked || !(owner >= 0) ? null : owner);
  const onKey = (event) => {
    if (event.key === "Escape") return look(null);
    if (event.key === "Enter" && here) return toggle(ownerAt(here));
    if (!event.key.startsWith("Arrow")) return undefined;
    event.preventDefault();
    return setAt(moved(segments, here, event.key));
  };
  return (
    <>
      <Readout segment={here && segments[here.segment]} piece={here?.piece} owners={owners} />
      <div
        class="strips"
        tabIndex={0}
        role="application"
        aria-label={`Map of ${counted(segments.length, "segment")}. Left and right go through its blocks, up and down through segments, Enter shows all blocks of one owner.`}
        onKeyDown={onKey}
      >
        {segments.map((segment, number) => (
          <div class="segment" key={segment.address}>
            <Strip
              segment={segment}
              owners={owners}
              most={most}
              looked={looked}
              current={here?.segment === number ? here.piece : null}
              onPoint={(piece, clicked) => {
                setAt({ segment: number, piece });
                if (clicked) toggle(segment.owned_by[piece]);
              }}
            />
            <p>{sentence(segment)}</p>
          </div>
        ))}
      </div>
    </>
  );
}
