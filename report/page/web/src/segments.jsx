// report/page/web/src/segments.jsx — segments at a moment: who sits in them, the gaps, what pins them.
import { useMemo, useState } from "preact/hooks";
import { tellApart } from "./apart.js";
import { bytesCell, countCell, shownCell } from "./cells.jsx";
import { devices, deviceText, functionText } from "./data.js";
import { Choice, Place, Section } from "./parts.jsx";
import { classOf, HUES, Strips } from "./strips.jsx";
import { AsTable } from "./table.jsx";
import { bytesText, counted, grouped, percentText, timeText } from "./words.js";

const AT_ONCE = 16;
const MOST_OWNERS = 12;
const MOST_PINS = 2; // that are named beside a segment
const [FREE, ALLOCATED, PENDING] = [0, 1, 2];
const mapped = devices.filter((device) => device.maps.some((map) => map.segments.length > 0));

function described(segment) {
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
function sentence(segment, owners) {
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
function joined(segments) {
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
function ownersOf(map, segments) {
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

function Owners({ owners, looked, look }) {
  const [all, setAll] = useState(false);
  if (owners.length === 0) return null;
  const shown = all ? owners : owners.slice(0, MOST_OWNERS);
  return (
    <>
      <h3 class="owners-title">Who sits in them</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Owners of the blocks in the segments">
        <table class="owners">
          <thead>
            <tr>
              <th scope="col">Where</th>
              <th scope="col" class="number">
                Bytes
              </th>
              <th scope="col" class="number">
                Blocks
              </th>
              <th scope="col" class="number" title="free memory in segments that it has a block in">
                Pins
              </th>
              <th scope="col" class="number" title="free memory in segments that nobody else has a block in">
                Alone
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.id} class={row.id === looked ? "looked" : ""}>
                <td>
                  <button
                    type="button"
                    aria-pressed={row.id === looked}
                    onClick={() => look(row.id === looked ? null : row.id)}
                  >
                    <span class={`swatch ${classOf(ALLOCATED, row.id)}`} aria-hidden="true" />
                    <span class="owner-place">
                      <Place row={row} />
                    </span>
                  </button>
                </td>
                <td class="number">{bytesText(row.bytes)}</td>
                <td class="number">{grouped(row.blocks)}</td>
                <td class="number">{row.pins > 0 ? bytesText(row.pins) : "–"}</td>
                <td class="number">{row.pins_alone > 0 ? bytesText(row.pins_alone) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {owners.length > shown.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          {counted(owners.length - shown.length, "more owner")}
        </button>
      )}
      <p class="about note">
        Pins: free memory in segments in which it has a block; alone: in which nobody else has one. A segment goes back to
        the driver only when no block is left in it.
      </p>
    </>
  );
}

const NAMES = { peak: "Peak", end: "End" };
function nameOf(map, maps) {
  const name = NAMES[map.moment] ?? `Out of memory, ${timeText(map.ns)}`;
  return maps.some((one) => one.of !== maps[0].of) ? `${map.of}: ${name}` : name;
}

function SegmentTable({ segments }) {
  return (
    <AsTable
      caption="The segments as a table"
      columns={[
        ["Address", "line"],
        ["Bytes", "number"],
        ["Allocated", "number"],
        ["Pending", "number"],
        ["Free", "number"],
        ["Largest gap", "number"],
        ["Blocks", "number"],
      ]}
      rows={() =>
        segments.map((one) => [
          shownCell(one.address, <code>{one.address}</code>),
          bytesCell(one.bytes),
          bytesCell(one.sums[ALLOCATED]),
          bytesCell(one.sums[PENDING]),
          bytesCell(one.free),
          bytesCell(one.gap),
          countCell(one.counts[ALLOCATED]),
        ])
      }
    />
  );
}

/** What is there, and no more. */
function Legend({ segments, owners }) {
  const has = (state) => segments.some((segment) => segment.counts[state] > 0);
  const unnamed = owners.length === 0 && has(ALLOCATED);
  const entries = [
    ...owners
      .slice(0, HUES)
      .map((row) => [
        classOf(ALLOCATED, row.id),
        <span class="label">
          <Place row={row} />
        </span>,
      ]),
    (unnamed || owners.length > HUES) && ["allocated", unnamed ? "allocated" : "others"],
    has(PENDING) && ["pending", "pending: freed, not safe to reuse"],
    has(FREE) && ["free", "free"],
  ];
  return (
    <ul class="legend">
      {entries.filter(Boolean).map(([name, text]) => (
        <li key={name}>
          <span class={`swatch ${name}`} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}

function SegmentMap({ map }) {
  const [shown, setShown] = useState(AT_ONCE);
  const [looked, look] = useState(null);
  const segments = useMemo(
    () =>
      map.segments
        .map(described)
        .sort((a, b) => b.free * b.pinned - a.free * a.pinned || b.bytes - a.bytes),
    [map],
  );
  const owners = ownersOf(map, segments);
  const groups = joined(segments);
  const left = groups.length - shown;
  return (
    <>
      <Legend segments={segments} owners={owners} />
      <Strips
        segments={groups.slice(0, shown)}
        owners={map.owners}
        looked={looked}
        look={look}
        sentence={(segment) => (
          <>
            <span class="number">
              {segment.alike > 1 && `${segment.alike} × `}
              {bytesText(segment.bytes)}
            </span>{" "}
            <span class="dim">
              {segment.alike > 1 && "each "}
              {sentence(segment, map.owners)}
            </span>
          </>
        )}
      />
      {left > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + AT_ONCE)}>
          {counted(left, "more segment")}
        </button>
      )}
      <Owners owners={owners} looked={looked} look={look} />
      <SegmentTable segments={segments} />
    </>
  );
}

function aboutText(device, map) {
  const segments = map.segments.map(described);
  const whole = segments.reduce((bytes, segment) => bytes + segment.bytes, 0);
  const stuck = segments.reduce((bytes, segment) => bytes + (segment.pinned ? segment.free : 0), 0);
  const left = map.left_out > 0 ? ` ${counted(map.left_out, "more segment")} are left out.` : "";
  return `${deviceText(device)}, ${map.of} at ${timeText(map.ns)}: ${counted(segments.length, "segment")} of ${bytesText(
    whole,
  )}; ${bytesText(stuck)} of it (${percentText(stuck, whole)}) is free but pinned by blocks beside it; the largest gap is ${bytesText(
    map.largest_gap,
  )}.${left}`;
}

export function Segments() {
  const [device, setDevice] = useState(mapped[0]);
  const [wanted, setWanted] = useState(0);
  if (!device) return null;
  const maps = device.maps.filter((map) => map.segments.length > 0);
  const map = maps[wanted] ?? maps[0];
  const tools = (
    <>
      {mapped.length > 1 && (
        <select
          aria-label="Device of the segments"
          onChange={(event) => setDevice(mapped[event.currentTarget.value])}
        >
          {mapped.map((one, at) => (
            <option key={at} value={at} selected={one === device}>
              {deviceText(one)}
            </option>
          ))}
        </select>
      )}
      <Choice
        label="Moment"
        options={maps.map((one, at) => [at, nameOf(one, maps)])}
        value={maps.indexOf(map)}
        onChange={setWanted}
      />
    </>
  );
  return (
    <Section id="segments" title="Segments: who sits where" tools={tools} about={aboutText(device, map)}>
      <SegmentMap key={`${deviceText(device)} ${maps.indexOf(map)}`} map={map} />
    </Section>
  );
}
