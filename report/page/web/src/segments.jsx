// report/page/web/src/segments.jsx — the pool's segments at a moment: what is in them, what pins them.
import { useState } from "preact/hooks";
import { devices, deviceText, rowsOf } from "./data.js";
import { AsTable, Choice, Section } from "./parts.jsx";
import { bytesText, counted, percentText, timeText } from "./words.js";

const AT_ONCE = 16;
const [, ALLOCATED, PENDING] = [0, 1, 2];
const STATES = ["free", "allocated", "pending"];
const mapped = devices.filter((device) => device.maps);

function described(segment) {
  const sums = [0, 0, 0];
  const counts = [0, 0, 0];
  let gap = 0;
  segment.sizes.forEach((size, at) => {
    sums[segment.states[at]] += size;
    counts[segment.states[at]] += 1;
    if (segment.states[at] === 0) gap = Math.max(gap, size);
  });
  return {
    ...segment,
    sums,
    counts,
    gap,
    free: sums[0],
    pinned: sums[0] > 0 && counts[ALLOCATED] + counts[PENDING] > 0,
  };
}

/** What one segment says of itself. */
function sentence(segment) {
  if (segment.counts[ALLOCATED] + segment.counts[PENDING] === 0)
    return "free as a whole: it can go back to the driver";
  if (segment.free === 0) return "full";
  const holds =
    segment.counts[ALLOCATED] > 0
      ? `${counted(segment.counts[ALLOCATED], "block")} of ${bytesText(segment.sums[ALLOCATED])}`
      : `${counted(segment.counts[PENDING], "block")} not safe to reuse yet`;
  return `${holds} pin${segment.counts[ALLOCATED] === 1 ? "s" : ""} ${bytesText(segment.free)} of free memory, at most ${bytesText(segment.gap)} of it in one piece`;
}

/** Segments of one size that are alike to a reader are one row; those that something pins stay apart. */
function grouped(segments) {
  const groups = new Map();
  for (const segment of segments) {
    const key = segment.pinned ? segment.address : `${segment.bytes} ${segment.sums.map((sum) => sum > 0)}`;
    const group = groups.get(key);
    if (group) group.alike += 1;
    else groups.set(key, { ...segment, alike: 1 });
  }
  return [...groups.values()];
}

function Strip({ segment, most }) {
  const paths = ["", "", ""];
  let at = 0;
  segment.sizes.forEach((size, piece) => {
    const [x, width] = [at, size].map((bytes) => ((bytes / segment.bytes) * 1000).toFixed(2));
    paths[segment.states[piece]] += `M${x} 0h${width}v10h-${width}z`;
    at += size;
  });
  return (
    <svg
      class="strip"
      viewBox="0 0 1000 10"
      preserveAspectRatio="none"
      aria-hidden="true"
      style={{ width: `${Math.max((100 * segment.bytes) / most, 2)}%` }}
    >
      {paths.map((path, state) => path && <path key={state} class={STATES[state]} d={path} />)}
    </svg>
  );
}

export function Segments() {
  const [device, setDevice] = useState(mapped[0]);
  const [moment, setMoment] = useState("peak");
  const [shown, setShown] = useState(AT_ONCE);
  if (!device) return null;
  const map = device.maps[moment];
  const segments = rowsOf(map.segments)
    .map(described)
    .sort((a, b) => b.free * b.pinned - a.free * a.pinned || b.bytes - a.bytes);
  const most = segments.reduce((bytes, segment) => Math.max(bytes, segment.bytes), 1);
  const whole = segments.reduce((bytes, segment) => bytes + segment.bytes, 0);
  const stuck = segments.reduce((bytes, segment) => bytes + (segment.pinned ? segment.free : 0), 0);
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
        options={[
          ["peak", "Peak"],
          ["end", "End"],
        ]}
        value={moment}
        onChange={setMoment}
      />
    </>
  );
  const groups = grouped(segments);
  const left = groups.length - shown;
  return (
    <Section
      id="segments"
      title="Segments of the pool"
      tools={tools}
      about={`${deviceText(device)}, at ${timeText(map.ns)}: ${counted(segments.length, "segment")} of ${bytesText(whole)}; ${bytesText(
        stuck,
      )} of it (${percentText(stuck, whole)}) is free but pinned by blocks beside it; the largest gap is ${bytesText(
        map.largest_gap,
      )}.${map.left_out > 0 ? ` ${counted(map.left_out, "more segment")} are left out.` : ""}`}
    >
      <ul class="legend">
        <li>
          <span class="swatch allocated" aria-hidden="true" />
          allocated
        </li>
        <li>
          <span class="swatch pending" aria-hidden="true" />
          pending: freed, not safe to reuse
        </li>
        <li>
          <span class="swatch free" aria-hidden="true" />
          free
        </li>
      </ul>
      <ul class="segments">
        {groups.slice(0, shown).map((segment) => (
          <li key={segment.address}>
            <Strip segment={segment} most={most} />
            <p>
              <span class="number">
                {segment.alike > 1 && `${segment.alike} × `}
                {bytesText(segment.bytes)}
              </span>
              {segment.alike === 1 && <code> {segment.address}</code>}{" "}
              <span class="dim">
                {segment.alike > 1 && "each "}
                {sentence(segment)}
              </span>
            </p>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + AT_ONCE)}>
          {counted(left, "more segment")}
        </button>
      )}
      <AsTable
        caption="The segments as a table"
        columns={[
          ["Address"],
          ["Bytes", "number"],
          ["Allocated", "number"],
          ["Pending", "number"],
          ["Free", "number"],
          ["Largest gap", "number"],
          ["Blocks", "number"],
        ]}
        rows={() =>
          segments.map((one) => [
            <code>{one.address}</code>,
            bytesText(one.bytes),
            bytesText(one.sums[ALLOCATED]),
            bytesText(one.sums[PENDING]),
            bytesText(one.free),
            bytesText(one.gap),
            String(one.counts[ALLOCATED]),
          ])
        }
      />
    </Section>
  );
}
