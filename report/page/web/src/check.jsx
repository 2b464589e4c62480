// report/page/web/src/check.jsx — what the run was allowed, and what it took.
import { check } from "./data.js";
import { verdictCell } from "./cells.jsx";
import { Section } from "./parts.jsx";
import { Table } from "./table.jsx";
import { counted } from "./words.js";

/** [what the page says first, its tone] by the verdict of a check. */
export const CHECKS = {
  passed: ["Check passed", "clean"],
  failed: ["Check failed", "leaks"],
  inconclusive: ["Not known whether the budgets are kept", "inconclusive"],
  "nothing-observed": ["No CUDA memory call was seen", "inconclusive"],
};
const STATES = { ok: ["kept", "clean"], failed: ["over budget", "leaks"], unknown: ["not known", "inconclusive"] };

export function Check() {
  if (!check) return null;
  const over = check.budgets.filter((row) => row.state === "failed").length;
  const tests =
    check.tests?.failed > 0
      ? ` ${counted(check.tests.failed, "test")} ${check.tests.failed === 1 ? "is" : "are"} over budget.`
      : "";
  return (
    <Section
      id="check"
      title="Budgets"
      about={`${counted(check.budgets.length, "budget")}, ${over === 0 ? "none" : over} exceeded.${tests}`}
    >
      {check.reasons.length > 0 && (
        <ul class="reasons">
          {check.reasons.map((doubt) => (
            <li key={doubt}>{doubt}</li>
          ))}
        </ul>
      )}
      <Table
        whole
        caption="The budgets"
        columns={[["Budget"], ["Verdict"], ["Measured", "number"], ["Allowed"]]}
        rows={check.budgets.map((row) => {
          const [word, tone] = STATES[row.state] ?? [row.state, ""];
          return [
            row.name_words,
            verdictCell(word, tone),
            row.measured_words,
            row.limit_words,
          ];
        })}
      />
    </Section>
  );
}
