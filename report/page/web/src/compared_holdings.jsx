// report/page/web/src/compared_holdings.jsx — what holds leaks, objects, contexts and owners, in two runs.
import { tellApart } from "./apart.js";
import { bytesCell, countCell, noCell, placeCell } from "./cells.jsx";
import { CHANGES } from "./changes.js";
import { diff } from "./data.js";
import { nounOf } from "./objects.jsx";
import { Table } from "./table.jsx";
import { bytesText, counted, grouped } from "./words.js";

/** "1 MiB in 1 block lost, nothing that was searched points to it" */
function sideText(side) {
  const [word, sum] = side.lost.blocks > 0 ? ["lost", side.lost] : ["held", side.held];
  return `${bytesText(sum.bytes)} in ${counted(sum.blocks, "block")} ${word}, ${side.how}`;
}

const REACHES = { "held-to-lost": "Lost now", "lost-to-held": "Held now" };

function Reach() {
  if (!(diff.reach?.length > 0)) return null;
  return (
    <>
      <h3 class="below">Lost or held</h3>
      <Table
        whole
        caption="Lost or held"
        columns={[["Where", "where"], ["Change"], ["Before", "where"], ["Now", "where"]]}
        rows={tellApart(diff.reach).map((row) => [placeCell(row), REACHES[row.change], sideText(row.base), sideText(row.new)])}
      />
    </>
  );
}

/** How many were made, and below that how many are left. */
const madeCell = ({ made, alive }) => ({
  ...countCell(made),
  show: (
    <>
      {grouped(made)} made
      <br />
      <span class="dim">{grouped(alive)} left</span>
    </>
  ),
});

function Objects() {
  if (!(diff.objects?.length > 0) && !(diff.not_compared?.length > 0)) return null;
  return (
    <>
      <h3 class="below">Objects and contexts</h3>
      {diff.not_compared.map((line) => (
        <p key={line} class="about">
          Not compared: {line}.
        </p>
      ))}
      {diff.objects.length > 0 && (
        <Table
          caption="Objects and contexts"
          columns={[["What"], ["Change"], ["Made by", "where"], ["Before", "number"], ["Now", "number"]]}
          rows={tellApart(diff.objects).map((row) => [
            `${nounOf(row.object)}${row.device === null ? "" : ` on device ${row.device}`}`,
            CHANGES[row.change],
            placeCell(row),
            madeCell(row.base),
            madeCell(row.new),
          ])}
        />
      )}
    </>
  );
}

function Owners() {
  if (!(diff.owners?.length > 0)) return null;
  const peakCell = (row, side) => (row.device === null ? noCell() : bytesCell(side.at_peak_bytes));
  return (
    <>
      <h3 class="below">Memory by owner in both runs</h3>
      <Table
        whole
        caption="Memory by owner in both runs"
        columns={[
          ["Owner", "where"],
          ["Of"],
          ["Peak before", "number"],
          ["Peak now", "number"],
          ["End before", "number wide"],
          ["End now", "number wide"],
        ]}
        rows={diff.owners.map((row) => [
          row.owner,
          row.device === null ? "host" : `device ${row.device}`,
          peakCell(row, row.base),
          peakCell(row, row.new),
          bytesCell(row.base.live_bytes),
          bytesCell(row.new.live_bytes),
        ])}
      />
    </>
  );
}

/** Told, and nothing is judged by it. */
export function ComparedHoldings() {
  return (
    <>
      <Reach />
      <Objects />
      <Owners />
    </>
  );
}
