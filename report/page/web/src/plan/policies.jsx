// report/page/web/src/plan/policies.jsx — what each allocator would need, and where memory is not enough.
import { plan } from "../data.js";
import { Place, Section, Stack, Table } from "../parts.jsx";
import { bytesText, counted, grouped, percentText, timeText } from "../words.js";
import { deviceName, policyName, policyText } from "./names.jsx";

// A bar that is longer than so many times the first is cut short: the others could not be told apart.
const MOST_OF_FIRST = 3;

/** What all bars are parts of. */
function scaleOf(policies) {
  const most = MOST_OF_FIRST * policies[0].reserved;
  const shown = policies.flatMap((row) => [row.reserved, row.smallest ?? 0]).filter((bytes) => bytes <= most);
  return Math.max(...shown, 1);
}

const smallestText = (row) =>
  !row.searched ? "not looked for" : row.smallest === null ? "none" : bytesText(row.smallest);

function Bars({ policies }) {
  const whole = scaleOf(policies);
  const part = (bytes) => `${Math.min((100 * bytes) / whole, 100)}%`;
  const cut = policies.some((row) => row.reserved > whole);
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
              <td class={`fall${row.reserved > whole ? " cut" : ""}`}>
                <span class="unused" style={{ left: 0, width: part(row.reserved) }} />
                <span class="used" style={{ left: 0, width: part(row.allocated) }} />
                {row.smallest !== null && row.smallest <= whole && (
                  <span class="needs" style={{ left: part(row.smallest) }} />
                )}
              </td>
              <td class="number">{bytesText(row.reserved)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function fitText({ fits, at_ns: at, retries }) {
  if (!fits)
    return <span class="verdict-word leaks">{at === null ? "too small" : `out at ${timeText(at)}`}</span>;
  return (
    <span class="verdict-word clean">{retries > 0 ? `fits, ${counted(retries, "retry")}` : "fits"}</span>
  );
}

export function Policies({ device, tools }) {
  const { policies } = device;
  const failing = policies.filter((row) => row.fails_above !== null);
  return (
    <Section
      id="policies"
      title="Policies side by side"
      tools={tools}
      about={`${deviceName(device)}: ${counted(device.requests, "request")}, ${bytesText(
        device.recorded_reserved,
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
          policyName(row),
          smallestText(row),
          ...row.on.map(fitText),
          bytesText(row.reserved),
          percentText(row.reserved - row.allocated, row.reserved),
          grouped(row.calls),
          row.words,
        ])}
      />
      {failing.length > 0 && (
        <ul class="gaps">
          {failing.map((row) => (
            <li key={row.name}>
              <code>{row.name}</code>: more is not always enough: it fails on {bytesText(row.fails_above)}.
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

export function PlanShortages({ device }) {
  if (device.shortages.length === 0) return null;
  return (
    <Section
      id="shortages"
      title="Where memory is not enough"
      about={`With ${policyText(device.policies[0])}: the first request that is not served, and what it would have taken.`}
    >
      <ol class="plain shortages">
        {device.shortages.map((row) => (
          <li key={row.id}>
            <h3>
              On {bytesText(row.card)}: out of memory at {timeText(row.at_ns)} for {bytesText(row.requested)}
            </h3>
            <p class="about">{`${row.why[0].toUpperCase()}${row.why.slice(1)}.`}</p>
            <div class="panels">
              <div class="panel">
                <h4>Who asked</h4>
                <Stack row={row} />
              </div>
              <Room rows={row.room} />
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
