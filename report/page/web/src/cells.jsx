// report/page/web/src/cells.jsx — cells of tables: what is shown, what a column is ordered by, what a CSV file has.
import { functionText, ownFrame, wholeFunction } from "./data.js";
import { Bar, Place, wholePlace } from "./parts.jsx";
import { bytesText, grouped, percentText, timeText } from "./words.js";

/**
 * @typedef {string | number | {text: string, value?: number | null, unit?: string, show?: any, after?: any, look?: string,
 *          whole?: string}} Cell
 *          `value`: the number that `text` rounds, null where it is none; `show`: what is drawn in place of the text,
 *          `after` behind it; `look`: a class; `whole`: the text without what is cut
 */

/** @returns {Cell} */
export const bytesCell = (bytes) => ({ text: bytesText(bytes), value: bytes, unit: "B" });
export const timeCell = (ns) => ({ text: timeText(ns), value: ns, unit: "ns" });
export const countCell = (count) => ({ text: grouped(count), value: count });
export const shareCell = (part, whole) => ({
  text: percentText(part, whole),
  value: whole > 0 ? Number(((100 * part) / whole).toPrecision(12)) : null,
  unit: "%",
});
/** Where there is no number. */
export const noCell = (text = "–") => ({ text, value: null });

/** With its part of the most as a bar. */
export const barCell = (bytes, most) => ({
  ...bytesCell(bytes),
  show: (
    <>
      {bytesText(bytes)}
      <Bar part={bytes} whole={most} />
    </>
  ),
});

/** A call, with words before and behind it. */
export const placeCell = (row, { before = "", after = "" } = {}) => ({
  text: `${before}${functionText(row)}${after}`,
  show: (
    <>
      {before}
      <Place row={row} linked />
      {after}
    </>
  ),
  whole: `${before}${[wholeFunction(row) || functionText(row), wholePlace(ownFrame(row) ?? {}), row.apart].filter(Boolean).join(" ")}${after}`,
});

/** @param {string} text @param {any} show an element of it */
export const shownCell = (text, show) => ({ text, show });

export const verdictCell = (text, tone) => shownCell(text, <span class={`verdict-word ${tone}`}>{text}</span>);
