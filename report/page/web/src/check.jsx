// report/page/web/src/check.jsx — what the run was allowed, and what it took.
import { report } from "./data.js";
import { Section, Table } from "./parts.jsx";
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
  const { checked } = report;
  if (!checked) return null;
  const over = checked.rows.filter((row) => row.state === "failed").length;
  const tests =
    checked.failed_tests > 0
      ? ` ${counted(checked.failed_tests, "test")} ${checked.failed_tests === 1 ? "is" : "are"} over budget.`
      : "";
  return (
    <Section
      id="check"
      title="Budgets"
      about={`${counted(checked.rows.length, "budget")}, ${over === 0 ? "none" : over} exceeded.${tests}`}
    >
      {checked.doubts.length > 0 && (
        <ul class="reasons">
          {checked.doubts.map((doubt) => (
            <li key={doubt}>{doubt}</li>
          ))}
        </ul>
      )}
      <Table
        whole
        caption="The budgets"
        columns={[["Budget"], ["Verdict"], ["Measured", "number"], ["Allowed"]]}
        rows={checked.rows.map((row) => {
          const [word, tone] = STATES[row.state] ?? [row.state, ""];
          return [row.budget, <span class={`verdict-word ${tone}`}>{word}</span>, row.measured, row.limit];
        })}
      />
    </Section>
  );
}
