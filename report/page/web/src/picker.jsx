// report/page/web/src/picker.jsx — what the leaks, the call stacks, the peak and the sizes are of: the whole run, a moment or a range of it.
import { momentAt } from "./data.js";
import { HELD } from "./held.js";
import { firstSpan, hostSentence, rangeOf, rangeSentence } from "./range.jsx";
import { bytesText, counted, timeText } from "./words.js";

export function MomentPicker({ device, moment, pick, setRange }) {
  const { moments } = device;
  if (moments.length === 0) return null;
  const at = moment ? moment.id : momentAt(device, device.at_peak.ns);
  return (
    <div class="picker">
      <label for="moment">Moment</label>
      <input
        id="moment"
        type="range"
        min="0"
        max={moments.length - 1}
        value={at}
        aria-valuetext={`${timeText(moments[at].ns)}, ${bytesText(moments[at].bytes)} alive`}
        onInput={(event) => pick(Number(event.currentTarget.value))}
      />
      <p class="about" role="status">
        {moment ? (
          <>
            At <strong>{timeText(moment.ns)}</strong>, <strong>{bytesText(moment.bytes)}</strong> were alive in{" "}
            {counted(moment.blocks, "block")}: the highest moment from {timeText(moment.from_ns)} to{" "}
            {timeText(moment.to_ns)}. <a href="#leaks">{HELD.part}</a> and <a href="#flame">call stacks</a> show it.
          </>
        ) : (
          `Pick one of ${moments.length} moments, here or in the chart: leaks and call stacks then show what was alive.`
        )}
      </p>
      <div class="picker-tools">
        {moment && (
          <button type="button" class="clear" onClick={() => pick(null)}>
            Whole run
          </button>
        )}
        {moments.length > firstSpan(device) && (
          <button type="button" onClick={() => setRange(rangeOf(device, 0, moments.length - 1))}>
            Choose a range
          </button>
        )}
      </div>
    </div>
  );
}

const Side = ({ id, title, at, least, most, ns, move }) => (
  <>
    <label for={id}>{title}</label>
    <input
      id={id}
      type="range"
      min={least}
      max={most}
      value={at}
      aria-valuetext={timeText(ns)}
      onInput={(event) => move(Number(event.currentTarget.value))}
    />
  </>
);

export function RangePicker({ range, setRange, lookAt }) {
  const { device, from, to, from_ns, to_ns } = range;
  const ends = { least: firstSpan(device), most: device.moments.length - 1 };
  const move = (begin, end) => setRange(rangeOf(device, begin, end), false);
  const onKey = (event) => event.key === "Escape" && setRange(null);
  return (
    <div class="picker of-range" role="group" aria-label="Range" onKeyDown={onKey}>
      <Side id="range-from" title="From" at={from} {...ends} ns={from_ns} move={(at) => move(at, Math.max(at, to))} />
      <Side id="range-to" title="To" at={to} {...ends} ns={to_ns} move={(at) => move(Math.min(at, from), at)} />
      <p class="about" role="status">
        From <strong>{timeText(from_ns)}</strong> to <strong>{timeText(to_ns)}</strong>: {rangeSentence(range)}
        {hostSentence(range)}{" "}
        <a href="#leaks">{HELD.part}</a>, <a href="#flame">call stacks</a>, <a href="#peak">peak</a> and{" "}
        <a href="#sizes">sizes</a> show it. A range begins and ends where one of {counted(ends.most + 1 - ends.least, "span")} of time
        does; between such ends the numbers are exact.
      </p>
      <div class="picker-tools">
        <button type="button" onClick={lookAt}>
          Zoom to it
        </button>
        <button type="button" class="clear" onClick={() => setRange(null)}>
          Whole run
        </button>
      </div>
    </div>
  );
}
