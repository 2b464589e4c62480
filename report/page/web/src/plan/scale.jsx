// report/page/web/src/plan/scale.jsx — runs of several sizes, and the line through their peaks.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { plan } from "../data.js";
import { bytesCell, countCell, placeCell } from "../cells.jsx";
import { Section } from "../parts.jsx";
import { Table } from "../table.jsx";
import { colour } from "../theme.js";
import { bytesText, grouped } from "../words.js";

const SPLITS = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** The runs in order of their sizes, from 0 on: [sizes, card, its line, live, its line]. */
function columnsOf(scale) {
  const order = scale.values.map((_, at) => at).sort((a, b) => scale.values[a] - scale.values[b]);
  const sizes = [0, ...order.map((at) => scale.values[at])];
  const points = (bytes) => [null, ...order.map((at) => bytes[at])];
  const line = ({ fixed_bytes: fixed, each_bytes: each }) => sizes.map((size) => fixed + each * size);
  return [sizes, points(scale.card_bytes), line(scale.card_line), points(scale.live_bytes), line(scale.live_line)];
}

function makeScaleChart(place, scale) {
  const axis = { stroke: colour("dim"), font: "11px system-ui, sans-serif", ticks: { show: false } };
  const points = (name) => ({
    paths: () => null,
    points: { show: true, size: 9, fill: colour(name), stroke: colour("surface") },
  });
  const line = (name) => ({ stroke: colour(name), width: 1.5, dash: [5, 4], points: { show: false } });
  return new uPlot(
    {
      width: place.clientWidth,
      height: 240,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.08] } },
      axes: [
        { ...axis, grid: { show: false }, size: 30, label: scale.dimension, labelFont: axis.font, labelSize: 16 },
        {
          ...axis,
          grid: { stroke: colour("line"), width: 1 },
          size: 68,
          incrs: SPLITS,
          space: 44,
          values: (_, ticks) => ticks.map(bytesText),
        },
      ],
      series: [{}, points("accent"), line("accent"), points("reserved"), line("reserved")],
    },
    columnsOf(scale),
    place,
  );
}

function Chart({ scale, theme }) {
  const place = useRef(null);
  useEffect(() => {
    const chart = makeScaleChart(place.current, scale);
    const follow = new ResizeObserver(() => {
      if (Math.abs(place.current.clientWidth - chart.width) > 1)
        chart.setSize({ width: place.current.clientWidth, height: chart.height });
    });
    follow.observe(place.current);
    return () => {
      follow.disconnect();
      chart.destroy();
    };
  }, [scale, theme]);
  return (
    <div
      class="chart"
      ref={place}
      role="img"
      aria-label={`Bytes by ${scale.dimension}; the same numbers are in the table.`}
    />
  );
}

function largestText({ largest, least, most }) {
  if (largest === null) return "none, or no end";
  return least === most ? grouped(largest) : `${grouped(largest)}, between ${grouped(least)} and ${grouped(most)}`;
}

export function Scale({ theme }) {
  const { scale } = plan;
  if (!scale) return null;
  const { dimension } = scale;
  return (
    <Section
      id="scale"
      title={`By ${dimension}`}
      about={`Of the card: ${scale.card_line.words}. Live: ${scale.live_line.words}.`}
    >
      {scale.cards.length > 0 && (
        <ul class="plain largest">
          {scale.cards.map((card) => (
            <li key={card.bytes}>
              Largest {dimension} on {bytesText(card.bytes)}: <strong>{largestText(card)}</strong>
            </li>
          ))}
        </ul>
      )}
      <div class="panels">
        <div class="panel">
          <ul class="legend">
            <li>
              <span class="swatch shade0" aria-hidden="true" />
              of the card
            </li>
            <li>
              <span class="swatch live" aria-hidden="true" />
              live
            </li>
          </ul>
          <Chart scale={scale} theme={theme} />
        </div>
        <div class="panel">
          <Table
            caption={`The runs by ${dimension}`}
            columns={[[dimension, "number"], ["Live", "number"], ["Of the card", "number"]]}
            rows={scale.values.map((value, at) => [
              countCell(value),
              bytesCell(scale.live_bytes[at]),
              bytesCell(scale.card_bytes[at]),
            ])}
          />
          <h3 class="below">What grows with it</h3>
          <Table
            caption={`Call stacks by what one more of ${dimension} adds`}
            columns={[["Each", "number"], ["Fixed", "number"], ["Where"]]}
            rows={scale.stacks.map((row) => [bytesCell(row.line.each_bytes), bytesCell(row.line.fixed_bytes), placeCell(row)])}
          />
        </div>
      </div>
    </Section>
  );
}
