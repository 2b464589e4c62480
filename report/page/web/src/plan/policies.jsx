// report/page/web/src/plan/policies.jsx — what each allocator would need, and where memory is not enough.
import { bytesCell, countCell, noCell, shareCell, shownCell, verdictCell } from "../cells.jsx";
import { plan } from "../data.js";
import { Place, Section, Stack } from "../parts.jsx";
import { Table } from "../table.jsx";
import { bytesText, counted, timeText } from "../words.js";
import { deviceName, policyName, policyText } from "./names.jsx";

// A bar that is longer than so many times the first is cut short: the others could not be told apart.
const MOST_OF_FIRST = 3;

/** What all bars are parts of. */
function scaleOf(policies) {
  const most = MOST_OF_FIRST * policies[0].peak_reserved_bytes;
  const shown = policies
    .flatMap((row) => [row.peak_reserved_bytes, row.smallest_card_bytes ?? 0])
    .filter((bytes) => bytes <= most);
  return Math.max(...shown, 1);
}

const smallestCell = (row) =>
  row.searched && row.smallest_card_bytes !== null
    ? bytesCell(row.smallest_card_bytes)
    : noCell(row.searched ? "none" : "not looked for");

function Bars({ policies }) {
  const whole = scaleOf(policies);
  const part = (bytes) => `${Math.min((100 * bytes) / whole, 100)}%`;
  const cut = policies.some((row) => row.peak_reserved_bytes > whole);
  return (
    <>
      <ul class="legend">
        <li>
          <span class="swatch shade0" aria-hidden="true" />
          allocated
        </li>
        <li>
          <span class="swatch shade3" aria-hidden="true" />
          reserved and unused
        </li>
        <li>
          <span class="key needs" aria-hidden="true" />
          smallest card that fits
        </li>
        {cut && <li>a bar that fades is longer than is drawn</li>}
      </ul>
      <table class="waterfall policies">
        <caption class="hidden">What each policy reserves at most</caption>
        <thead class="hidden">
          <tr>
            <th scope="col">Policy</th>
            <th scope="col">Drawn</th>
            <th scope="col">Reserved</th>
          </tr>
        </thead>
        <tbody>
          {policies.map((row) => (
            <tr key={row.name} class={row === policies[0] ? "judged" : ""}>
              <th scope="row" title={row.words}>
                {policyName(row)}
              </th>
              <td class={`fall${row.peak_reserved_bytes > whole ? " cut" : ""}`}>
                <span class="unused" style={{ left: 0, width: part(row.peak_reserved_bytes) }} />
                <span class="used" style={{ left: 0, width: part(row.allocated_bytes_then) }} />
                {row.smallest_card_bytes !== null && row.smallest_card_bytes <= whole && (
                  <span class="needs" style={{ left: part(row.smallest_card_bytes) }} />
                )}
              </td>
              <td class="number">{bytesText(row.peak_reserved_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function fitCell({ fits, first_shortage: shortage, retries }) {
  if (!fits) return verdictCell(shortage ? `out at ${timeText(shortage.at_ns)}` : "too small", "leaks");
  return verdictCell(retries > 0 ? `fits, ${counted(retries, "retry")}` : "fits", "clean");
}

export function Policies({ device, tools }) {
  const { policies } = device;
  const failing = policies.filter((row) => row.fails_above_bytes !== null);
  return (
    <Section
      id="policies"
      title="Policies side by side"
      tools={tools}
      about={`${deviceName(device)}: ${counted(device.requests, "request")}, ${bytesText(
        device.recorded_reserved_bytes,
      )} reserved at most when it ran. Each policy gets the same requests; the first is judged.`}
    >
      <Bars policies={policies} />
      <Table
        whole
        caption="The policies in numbers"
        columns={[
          ["Policy"],
          ["Smallest card", "number"],
          ...plan.cards.map((card) => [`On ${bytesText(card)}`]),
          ["Reserved", "number"],
          ["Unused", "number"],
          ["Driver calls", "number"],
          ["What it is"],
        ]}
        rows={policies.map((row) => [
          shownCell(policyText(row), policyName(row)),
          smallestCell(row),
          ...row.cards.map(fitCell),
          bytesCell(row.peak_reserved_bytes),
          shareCell(row.peak_reserved_bytes - row.allocated_bytes_then, row.peak_reserved_bytes),
          countCell(row.device_calls),
          row.words,
        ])}
      />
      {failing.length > 0 && (
        <ul class="gaps">
          {failing.map((row) => (
            <li key={row.name}>
              <code>{row.name}</code>: more is not always enough: it fails on {bytesText(row.fails_above_bytes)}.
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Room({ rows }) {
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h4>There would have been room, if these had been freed</h4>
      <ul class="plain">
        {rows.map((row) => (
          <li key={row.id}>
            <span class="number">{bytesText(row.bytes)}</span> in {counted(row.blocks, "block")}: <Place row={row} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The cards on which a request is not served: of the policy that is judged, and of the device that it ran on. */
export function PlanShortages({ device }) {
  const cards = [...device.policies[0].cards, device.recorded_failure].filter((card) => card?.first_shortage);
  if (cards.length === 0) return null;
  return (
    <Section
      id="shortages"
      title="Where memory is not enough"
      about={`With ${policyText(device.policies[0])}: the first request that is not served, and what it would have taken.`}
    >
      <ol class="plain shortages">
        {cards.map(({ bytes, first_shortage: row }, at) => (
          <li key={at}>
            <h3>
              On {bytesText(bytes)}: out of memory at {timeText(row.at_ns)} for {bytesText(row.requested_bytes)}
            </h3>
            <p class="about">{`${row.why[0].toUpperCase()}${row.why.slice(1)}.`}</p>
            <div class="panels">
              <div class="panel">
                <h4>Who asked</h4>
                <Stack row={row} />
              </div>
              <Room rows={row.would_make_room} />
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
