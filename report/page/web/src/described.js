// report/page/web/src/described.js — what is said of segments: what they hold, what pins them, and who sits in them.
import { tellApart } from "./apart.js";
import { functionText } from "./data.js";
import { bytesText, counted } from "./words.js";

const MOST_PINS = 2; // that are named beside a segment
export const [FREE, ALLOCATED, PENDING] = [0, 1, 2];

export function described(segment) {
  const sums = [0, 0, 0];
  const counts = [0, 0, 0];
  const of_owner = new Map(); // bytes
  let gap = 0;
  segment.sizes.forEach((size, at) => {
    const state = segment.states[at];
    sums[state] += size;
    counts[state] += 1;
    if (state === 0) gap = Math.max(gap, size);
    const owner = segment.owned_by[at];
    if (owner >= 0) of_owner.set(owner, (of_owner.get(owner) ?? 0) + size);
  });
  return {
    ...segment,
    sums,
    counts,
    gap,
    of_owner,
    free: sums[0],
    pinned: sums[0] > 0 && counts[ALLOCATED] + counts[PENDING] > 0,
  };
}

/** "load() and 2 more": whose blocks are in it, those first that have the most. */
function ownersText(segment, owners) {
  const all = [...segment.of_owner.keys()].sort((a, b) => segment.of_owner.get(b) - segment.of_owner.get(a));
  const alike = new Set(all.map((owner) => functionText(owners[owner])));
  const names = [...alike].slice(0, MOST_PINS);
  const more = alike.size - names.length;
  return `${names.join(more > 0 ? ", " : " and ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** What a segment holds, what of it is free and cannot go back, and whose blocks are the reason. */
export function sentence(segment, owners) {
  if (segment.counts[ALLOCATED] + segment.counts[PENDING] === 0)
    return "free as a whole: it can go back to the driver";
  const whose = ownersText(segment, owners);
  if (segment.counts[ALLOCATED] + segment.free === 0) return `pending as a whole${whose && `: ${whose}`}`;
  const pending = segment.counts[PENDING] > 0 ? `, ${bytesText(segment.sums[PENDING])} pending` : "";
  if (segment.free === 0) return `full${whose && `: ${whose}`}${pending}`;
  const blocks = segment.counts[ALLOCATED] + segment.counts[PENDING];
  return `${counted(blocks, "block")} of ${bytesText(segment.bytes - segment.free)}${
    whose && ` from ${whose}`
  } pin${blocks === 1 ? "s" : ""} ${bytesText(segment.free)} of free memory, at most ${bytesText(segment.gap)} of it in one piece${pending}`;
}

/** Segments of one size that are alike to a reader are one row; those that something pins stay apart. */
export function joined(segments) {
  const groups = new Map();
  for (const segment of segments) {
    const key = segment.pinned
      ? segment.address
      : `${segment.bytes} ${segment.sums.map((sum) => sum > 0)} ${[...segment.of_owner.keys()]}`;
    const group = groups.get(key);
    if (group) group.alike += 1;
    else groups.set(key, { ...segment, alike: 1 });
  }
  return [...groups.values()];
}

/** What each owner has here, and how much free memory lies beside its blocks: with others', and beside no others. */
export function ownersOf(map, segments) {
  const rows = tellApart(map.owners).map((owner) => ({ ...owner, pins: 0, pins_alone: 0 }));
  for (const segment of segments) {
    if (!segment.pinned) continue;
    for (const owner of segment.of_owner.keys()) {
      rows[owner].pins += segment.free;
      if (segment.of_owner.size === 1) rows[owner].pins_alone += segment.free;
    }
  }
  return rows.filter((row) => row.blocks > 0);
}
