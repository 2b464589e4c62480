// report/page/web/src/plan/plan.jsx — would it fit: the answer first, then what it rests on.
import { useState } from "preact/hooks";
import { plan, report } from "../data.js";
import { Figure, MadeOf } from "../headline.jsx";
import { Place, Section } from "../parts.jsx";
import { bytesText, grouped, timeText } from "../words.js";
import { deviceName, policyName, policyText } from "./names.jsx";
import { PlanPeak, Pins } from "./peak.jsx";
import { Policies, PlanShortages } from "./policies.jsx";
import { Scale } from "./scale.jsx";

const cardsText = (cards) => cards.map(bytesText).join(", ");

/** [what the page says first, its tone] */
function verdict() {
  const { answer, cards } = plan;
  if (!answer) return ["No log asked for device memory", "inconclusive"];
  const { judged } = answer;
  const [fits, fails] = [true, false].map((fit) => cards.filter((_, at) => judged.cards[at].fits === fit));
  if (plan.verdict === "does-not-fit") return [`Does not fit on ${cardsText(fails)}`, "leaks"];
  if (cards.length > 0)
    return plan.verdict === "fits"
      ? [`Fits on ${cardsText(fits)}`, "clean"]
      : [`Fits on ${cardsText(fits)}, as far as the log shows`, "inconclusive"];
  return judged.smallest_card_bytes === null
    ? ["No card is large enough", "leaks"]
    : [`Needs a card of ${bytesText(judged.smallest_card_bytes)}`, "neutral"];
}

/** What of the program would have to be less. */
function WhatToLower() {
  const { lower: device, device: judged, missing } = plan.answer;
  const live = (
    <>
      at the peak{device !== judged && ` of ${deviceName(device)}`} <strong>{bytesText(device.live_peak_bytes + device.beside_peak_bytes)}</strong> are live
    </>
  );
  const [most] = device.holders;
  if (!most) return <>{live}.</>;
  if (missing > 0 && missing <= most.bytes)
    return (
      <>
        {live}; lower <Place row={most} /> by <strong>{bytesText(missing)}</strong> (it has {bytesText(most.bytes)}).
      </>
    );
  return (
    <>
      {live}
      {missing > 0 && `, ${bytesText(missing)} too many`}; {bytesText(most.bytes)} of them are of <Place row={most} />.
    </>
  );
}

function Answer() {
  const { answer, cards, processes } = plan;
  const { device, judged, needs, best, best_card: bestCard, helps, saved, missing } = answer;
  return (
    <p class="lead">
      {needs === null ? (
        "No card is large enough for it"
      ) : (
        <>
          The smallest card that fits has <strong>{needs}</strong>
        </>
      )}{" "}
      with {policyName(judged)}
      {processes.length > 1 && `, ${deviceName(device)}`}.{" "}
      {best && !helps && (
        <>
          No knob helps: <WhatToLower />
        </>
      )}
      {helps && (
        <>
          Best knob: <code>{best.name}</code> needs <strong>{bytesText(bestCard)}</strong>
          {saved > 0 && `, ${bytesText(saved)} less`}.{" "}
          {missing > 0 && (
            <>
              It is not enough: <WhatToLower />
            </>
          )}
        </>
      )}
      {cards.length === 0 && !best && "More than any card has is asked for at once."}
    </p>
  );
}

function Figures() {
  const { device, judged, best, helps, saved } = plan.answer;
  const unused = judged.peak_reserved_bytes - judged.allocated_bytes_then;
  return (
    <div class="figures">
      <Figure
        title="Smallest card"
        href="#policies"
        value={judged.smallest_card_bytes === null ? "none" : bytesText(judged.smallest_card_bytes)}
        detail={policyText(judged)}
      />
      <Figure
        title="Best knob saves"
        href="#policies"
        value={helps && saved > 0 ? bytesText(saved) : helps ? "it fits" : "nothing"}
        detail={helps ? best.name : "no allocator's setting helps"}
      />
      <Figure
        title="Live at the peak"
        href="#peak"
        value={bytesText(device.live_peak_bytes + device.beside_peak_bytes)}
        detail={`at ${timeText(device.live_peak_ns)}`}
      />
      <Figure
        title="Reserved, unused"
        href={device.pinned_at_peak.length > 0 ? "#pins" : "#policies"}
        value={bytesText(unused)}
        detail={`of ${bytesText(judged.peak_reserved_bytes)} at its peak`}
      />
    </div>
  );
}

function Headline() {
  const { answer } = plan;
  const [text, tone] = verdict();
  const device = answer?.device;
  return (
    <section id="overview" aria-label="Overview">
      <p class="command">
        <code>{device ? device.program || device.log : ""}</code>
      </p>
      <h1 class={`verdict ${tone}`}>
        <span class="dot" aria-hidden="true" />
        {text}
      </h1>
      {device && <Answer />}
      {device && (
        <p class="run">
          {deviceName(device)} · {grouped(device.requests)} requests replayed
          {device.allocator && ` of ${device.allocator}`} ·{" "}
          {device.base_bytes > 0 &&
            `of each card ${bytesText(device.base_bytes)} are taken before: contexts, code and other processes, by the driver's word · `}
          a card shows programs less than its name says, often some hundred MiB
        </p>
      )}
      {device && <Figures />}
      {device && (
        <div class="panels">
          <MadeOf title="What the peak is made of" rows={device.holders} whole={device.live_peak_bytes} />
        </div>
      )}
    </section>
  );
}

function Unknown() {
  const sentences = [...plan.sentences, ...report.thinned.map((text) => ({ about: "Left out", text }))];
  return (
    <Section
      id="coverage"
      title="What the answer does not rest on"
      about="A replay knows what the log tells. What it cannot know is said here, and counted in no number."
    >
      {sentences.length === 0 ? (
        <p class="whole">Nothing of what was asked for is missing.</p>
      ) : (
        <dl class="facts">
          {sentences.map(({ about, text }) => (
            <div key={text}>
              <dt>{about}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  );
}

export function Plan({ theme }) {
  const [device, setDevice] = useState(plan.answer?.device);
  const tools = plan.devices.length > 1 && (
    <select
      aria-label="Device of the plan"
      onChange={(event) => setDevice(plan.devices[event.currentTarget.value])}
    >
      {plan.devices.map((one, at) => (
        <option key={at} value={at} selected={one === device}>
          {deviceName(one)}
        </option>
      ))}
    </select>
  );
  return (
    <>
      <Headline />
      <Scale theme={theme} />
      {device && (
        <>
          <Policies device={device} tools={tools} />
          <PlanShortages device={device} />
          <PlanPeak device={device} />
          <Pins device={device} />
        </>
      )}
      <Unknown />
    </>
  );
}
