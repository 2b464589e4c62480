// report/page/web/src/segments.jsx — segments at a moment: who sits in them, the gaps, what pins them.
import { useMemo, useState } from "preact/hooks";
import { useAddressed } from "./address.js";
import { bytesCell, countCell, shownCell } from "./cells.jsx";
import { devices, deviceText } from "./data.js";
import { Dense } from "./dense.jsx";
import { ALLOCATED, described, FREE, joined, ownersOf, PENDING, sentence } from "./described.js";
import { Choice, Place, Section } from "./parts.jsx";
import { classOf, Strips } from "./strips.jsx";
import { AsTable } from "./table.jsx";
import { bytesText, counted, grouped, percentText, timeText } from "./words.js";

const AT_ONCE = 16;
const MOST_OWNERS = 12;
const mapped = devices.filter((device) => device.maps.some((map) => map.segments.length > 0));

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
                    <span class={`swatch ${classOf(ALLOCATED, row)}`} aria-hidden="true" />
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
  const coloured = new Map(owners.map((row) => [classOf(ALLOCATED, row), row])); // a call place may own as several
  const others = coloured.delete("allocated");
  const entries = [
    ...Array.from(coloured, ([name, row]) => [
      name,
      <span class="label">
        <Place row={row} />
      </span>,
    ]),
    (unnamed || others) && ["allocated", unnamed ? "allocated" : "others"],
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

/** @param {{order: string}} props "address": as one map */
function SegmentMap({ map, order }) {
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
      {order === "address" ? (
        <Dense segments={segments} owners={map.owners} looked={looked} look={look} />
      ) : (
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
      )}
      {order !== "address" && left > 0 && (
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

const SEGMENT_ORDERS = [
  ["pinned", "Most pinned first"],
  ["address", "By address"],
];

export function Segments() {
  const [device, setDevice] = useState(mapped[0]);
  const [wanted, setWanted] = useState(0);
  const [order, setOrder] = useAddressed("segments", "pinned", { visit: true });
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
      <Choice label="Order of the segments" options={SEGMENT_ORDERS} value={order} onChange={setOrder} />
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
      <SegmentMap key={`${deviceText(device)} ${maps.indexOf(map)}`} map={map} order={order} />
    </Section>
  );
}
