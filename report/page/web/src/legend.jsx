// report/page/web/src/legend.jsx — what the lines and the areas of a timeline are, and what they are at a point of it.
import { baseOf, chartData, hasPending, hasUsed } from "./chart.js";
import { functionText } from "./data.js";
import { owners, ownersOverTime, ownerText } from "./owners.jsx";
import { bytesText, timeText } from "./words.js";

export function Legend({ device, selected, at }) {
  const columns = chartData(device, selected);
  const value = (column) =>
    at === null ? "" : columns[column][at] === null ? "–" : bytesText(columns[column][at]);
  const entries = [
    ["allocated", "allocated", 1],
    ["reserved", "reserved", 3],
    ...(hasUsed(device.timeline) ? [["used", "used on the device, by all", 4]] : []),
    ...(hasPending(device.timeline) ? [["pending", "pending: freed, not safe to reuse", 5]] : []),
    ...(selected ? [["bad", `alive from ${functionText(selected)}`, 6]] : []),
    ...(baseOf(device) ? [["base", "allocated in the run before", 7]] : []),
  ];
  return (
    <ul class="legend">
      {entries.map(([name, text, column]) => (
        <li key={name}>
          <span class={`key ${name}`} aria-hidden="true" />
          <span class="label">{text}</span>
          <span class="number">{value(column)}</span>
        </li>
      ))}
      <li class="moment number">{at === null ? "" : timeText(Math.round(columns[0][at] * 1e9))}</li>
    </ul>
  );
}

/** The owner at a point, its bytes, and the time of which that is true. */
export function Readout({ device, point }) {
  if (device.moments.length === 0) return null;
  const moment = point && device.moments[point.span];
  const owner = point?.owner ?? null;
  return (
    <p class="chart-readout about" role="status">
      {!moment ? (
        "Point into the chart, or go through it with the arrow keys: who had how much is told here."
      ) : (
        <>
          {owner !== null && (
            <>
              <span class={`swatch ${owners[owner].colour}`} aria-hidden="true" /> <code>{ownerText(owners[owner])}</code>:{" "}
              <strong>{bytesText(ownersOverTime(device)[point.span][owner])}</strong> of{" "}
            </>
          )}
          <strong>{bytesText(moment.bytes)}</strong> alive at {timeText(moment.ns)}, the highest moment from{" "}
          {timeText(moment.from_ns)} to {timeText(moment.to_ns)}
        </>
      )}
    </p>
  );
}

/** The owners that the device has, and what each has at the point, else at most. */
export function OwnersLegend({ device, point }) {
  const over = ownersOverTime(device);
  const most = (owner) => over.reduce((bytes, bands) => Math.max(bytes, bands[owner]), 0);
  return (
    <ul class="legend owners-legend" aria-label="Who had it">
      {owners.map((owner, at) => {
        const atMost = most(at);
        return (
          atMost > 0 && (
            <li key={at} class={point?.owner === at ? "current" : ""}>
              <span class={`swatch ${owner.colour}`} aria-hidden="true" />
              <span class="label">{ownerText(owner)}</span>
              <span class="number">{point ? bytesText(over[point.span][at]) : `at most ${bytesText(atMost)}`}</span>
            </li>
          )
        );
      })}
    </ul>
  );
}
