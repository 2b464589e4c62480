// report/page/web/src/outliers.js — of numbers that should be alike, those that are not.

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const LEAST = 3; // of two nobody knows which is the one
const TIMES = 3; // so many times as far from the median as most are
const SHARE = 0.1; // of the median: less does not stand out

/**
 * How far each is above (or below) the median where it stands out, by the median of the distances, which outliers do
 * not move; 0 where it does not.
 * @param {number[]} values
 */
export function outliers(values) {
  if (values.length < LEAST) return values.map(() => 0);
  const middle = median(values);
  const usual = median(values.map((value) => Math.abs(value - middle)));
  const far = Math.max(TIMES * 1.4826 * usual, SHARE * middle);
  return values.map((value) => (Math.abs(value - middle) > far ? value - middle : 0));
}
