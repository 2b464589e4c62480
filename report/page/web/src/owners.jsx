// report/page/web/src/owners.jsx — the call places that have the most memory: each has one colour, in whatever view it is.
import { devices, functionText, ownFrame, placeText } from "./data.js";
import { sameFunction } from "./tree.js";

const MOST_OWNERS = 10; // as many as there are colours

/** What a row's owner is known by: the line that allocates, or the call where no line is known. */
const keyOf = (row) => ownFrame(row) ?? row.api;
const textOf = (row) => `${functionText(row)} ${placeText(ownFrame(row)).replace(/:\d+$/, "")}`;

/** The same for the same text, in any page. */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193) >>> 0;
  return hash;
}

/** [what an owner is known by, its bytes] of a moment. */
function sumsOf({ stacks, stack_bytes }, places) {
  const sums = new Map();
  stacks.forEach((stack, part) => {
    const key = keyOf(places[stack]);
    sums.set(key, (sums.get(key) ?? 0) + stack_bytes[part]);
  });
  return sums;
}

/** Those that had the most at any moment; those first that had much for long, so that what comes and goes is above. */
function largest() {
  const found = new Map();
  for (const { places, moments } of devices) {
    for (const place of places)
      if (!found.has(keyOf(place))) found.set(keyOf(place), { key: keyOf(place), row: place, most: 0, overTime: 0 });
    for (const moment of moments)
      for (const [key, bytes] of sumsOf(moment, places)) {
        const owner = found.get(key);
        owner.most = Math.max(owner.most, bytes);
        owner.overTime += bytes * (moment.to_ns - moment.from_ns);
      }
  }
  const most = [...found.values()].sort((a, b) => b.most - a.most).slice(0, MOST_OWNERS);
  return most.sort((a, b) => b.overTime - a.overTime);
}

/** Each has the colour of its name, as in the page of another run, unless a larger one has it. */
function coloured(found) {
  const free = Array.from({ length: MOST_OWNERS }, (_, at) => `owner${at}`);
  return found.map((owner) => {
    const wanted = hashOf(textOf(owner.row)) % MOST_OWNERS;
    const colour = Array.from(free.keys(), (at) => free[(wanted + at) % MOST_OWNERS]).find(Boolean);
    free[free.indexOf(colour)] = null;
    return { ...owner, colour };
  });
}

const known = coloured(largest());
const byKey = new Map(known.map((owner) => [owner.key, owner]));
/** From the bottom of a chart to its top: {row, colour}, and in the end all others together, which have no row. */
export const owners = [...known, { row: null, colour: "others" }];

/** The name of a row's colour; nothing: it is none of the largest. */
export const ownerColour = (row) => byKey.get(keyOf(row))?.colour;
/** The same of a node in a tree of call stacks: of the owner that it stands for. @param {import("./tree.js").Node} node */
export function colourOfNode({ frame, rows }) {
  for (const row of rows) {
    const own = ownFrame(row);
    if (own && sameFunction(own, frame) && ownerColour(row)) return `owned ${ownerColour(row)}`;
  }
  return "";
}

export const ownerText = ({ row }) => (row ? `${functionText(row)} ${placeText(ownFrame(row))}`.trim() : "all other call places");

const stacked = new WeakMap();

/** The bytes of each owner, in their order, at each moment of a device. */
export function ownersOverTime(device) {
  if (!stacked.has(device))
    stacked.set(
      device,
      device.moments.map((moment) => {
        const sums = sumsOf(moment, device.places);
        const bands = known.map(({ key }) => sums.get(key) ?? 0);
        return [...bands, moment.bytes - bands.reduce((sum, bytes) => sum + bytes, 0)];
      }),
    );
  return stacked.get(device);
}

/** Before the name of a call place, in any list. */
export const Swatch = ({ row }) =>
  ownerColour(row) ? <span class={`swatch ${ownerColour(row)}`} aria-hidden="true" /> : null;
