// report/model/names.cpp — the words of the JSON report for the values of its enumerations.
#include "report/model/check.hpp"
#include "report/model/comparison.hpp"
#include "report/model/plan.hpp"
#include "tracker/format/words.hpp"

namespace vramscope::report {
namespace {

using format::Word;

constexpr Word<PlanVerdict> kPlanVerdicts[] = {{PlanVerdict::fits, "fits"},
                                               {PlanVerdict::does_not_fit, "does-not-fit"},
                                               {PlanVerdict::unknown, "unknown"},
                                               {PlanVerdict::nothing, "nothing-observed"}};
constexpr Word<Finding> kFindingWords[] = {
    {Finding::leaks, "leaks"},       {Finding::growth, "growth"},
    {Finding::out_of_memory, "oom"}, {Finding::misuse, "misuse"},
    {Finding::damage, "damage"},     {Finding::failed_calls, "failed-calls"}};
constexpr Word<CheckState> kCheckStates[] = {{CheckState::ok, "ok"},
                                             {CheckState::failed, "failed"}};
constexpr Word<CheckUnit> kCheckUnits[] = {{CheckUnit::bytes, "bytes"},
                                           {CheckUnit::bytes_per_step, "bytes/step"},
                                           {CheckUnit::bytes_per_call, "bytes/call"},
                                           {CheckUnit::bytes_per_second, "bytes/s"},
                                           {CheckUnit::percent, "percent"}};
constexpr Word<Check::Verdict> kCheckVerdicts[] = {
    {Check::Verdict::passed, "passed"},
    {Check::Verdict::failed, "failed"},
    {Check::Verdict::nothing_observed, "nothing-observed"}};
constexpr Word<Change> kChanges[] = {{Change::added, "new"},
                                     {Change::grown, "grown"},
                                     {Change::shrunk, "shrunk"},
                                     {Change::gone, "gone"}};
constexpr Word<Comparison::Verdict> kComparisonVerdicts[] = {
    {Comparison::Verdict::same, "same"},
    {Comparison::Verdict::better, "better"},
    {Comparison::Verdict::worse, "worse"},
    {Comparison::Verdict::nothing_observed, "nothing-observed"}};

} // namespace

const char* name(Finding finding) noexcept
{
    return word_of(kFindingWords, finding);
}
const char* name(CheckState state) noexcept
{
    return word_of(kCheckStates, state, "unknown");
}
const char* name(CheckUnit unit) noexcept
{
    return word_of(kCheckUnits, unit, "count");
}
const char* name(Check::Verdict verdict) noexcept
{
    return word_of(kCheckVerdicts, verdict, "inconclusive");
}
const char* name(Change change) noexcept
{
    return word_of(kChanges, change, "same");
}
const char* name(Comparison::Verdict verdict) noexcept
{
    return word_of(kComparisonVerdicts, verdict, "inconclusive");
}
const char* name(PlanVerdict verdict) noexcept
{
    return word_of(kPlanVerdicts, verdict, "nothing-observed");
}

} // namespace vramscope::report
