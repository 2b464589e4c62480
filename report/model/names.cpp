// report/model/names.cpp — the words of the JSON report for the values of its enumerations.
#include "report/model/call_place.hpp"
#include "report/model/check.hpp"
#include "report/model/comparison.hpp"
#include "report/model/growth.hpp"
#include "report/model/leaks.hpp"
#include "report/model/memory.hpp"
#include "report/model/misuse.hpp"
#include "report/model/plan.hpp"
#include "report/model/pool.hpp"
#include "report/model/process_end.hpp"
#include "report/model/shortages.hpp"
#include "report/model/verdict.hpp"
#include "tracker/format/words.hpp"

namespace vramscope::report {
namespace {

using format::Word;

constexpr Word<PlanVerdict> kPlanVerdicts[] = {{PlanVerdict::fits, "fits"},
                                               {PlanVerdict::does_not_fit, "does-not-fit"},
                                               {PlanVerdict::unknown, "unknown"},
                                               {PlanVerdict::nothing, "nothing-observed"}};
constexpr Word<StackCut> kStackCuts[] = {{StackCut::no_unwind_table, "no-unwind-table"},
                                         {StackCut::no_module, "no-module"}};
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
constexpr Word<LeakClass> kLeakClasses[] = {{LeakClass::growing, "growing"},
                                            {LeakClass::start_up, "start-up"},
                                            {LeakClass::cache, "cache"},
                                            {LeakClass::once, "once"},
                                            {LeakClass::several, "several"}};
constexpr Word<LeakKind> kLeakKinds[] = {
    {LeakKind::at_exit, "leaked-at-exit"},          {LeakKind::at_reset, "leaked-at-reset"},
    {LeakKind::at_crash, "in-use-at-crash"},        {LeakKind::unclosed_import, "unclosed-import"},
    {LeakKind::never_destroyed, "never-destroyed"}, {LeakKind::graph_owned, "graph-owned"}};
constexpr Word<Pattern> kPatterns[] = {{Pattern::once, "once"}, {Pattern::several, "several"}};
constexpr Word<AdviceKind> kAdviceKinds[] = {{AdviceKind::never_freed, "never-freed"},
                                             {AdviceKind::released_late, "released-late"},
                                             {AdviceKind::allocated_early, "allocated-early"}};
constexpr Word<HolderKind> kHolderKinds[] = {{HolderKind::blocks, "blocks"},
                                             {HolderKind::cache, "cache"},
                                             {HolderKind::module, "module"},
                                             {HolderKind::pool, "pool"},
                                             {HolderKind::unattributed, "unattributed"}};
constexpr Word<MisuseKind> kMisuseKinds[] = {{MisuseKind::double_free, "double-free"},
                                             {MisuseKind::never_allocated, "never-allocated"},
                                             {MisuseKind::after_context, "free-after-context"},
                                             {MisuseKind::wrong_api, "wrong-api"},
                                             {MisuseKind::interior_pointer, "interior-pointer"}};
constexpr Word<BlockState> kBlockStates[] = {
    {BlockState::active_allocated, "active_allocated"},
    {BlockState::active_pending_free, "active_pending_free"}};
constexpr Word<ProcessEnd::Kind> kProcessEndKinds[] = {
    {ProcessEnd::Kind::exited, "exited"},
    {ProcessEnd::Kind::quick_exit, "quick-exit"},
    {ProcessEnd::Kind::underscore_exit, "underscore-exit"},
    {ProcessEnd::Kind::killed, "killed"},
    {ProcessEnd::Kind::replaced, "replaced"},
    {ProcessEnd::Kind::running, "running"},
    {ProcessEnd::Kind::not_read, "not-read"}};
constexpr Word<Verdict> kVerdicts[] = {{Verdict::clean, "clean"}, {Verdict::leaks, "leaks"}};
constexpr Word<ShortageKind> kShortageKinds[] = {{ShortageKind::lacking, "lacking"},
                                                 {ShortageKind::fragmented, "fragmented"},
                                                 {ShortageKind::cached, "cached"}};

} // namespace

const char* name(StackCut cut) noexcept
{
    return word_of(kStackCuts, cut, nullptr);
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
const char* name(LeakClass found) noexcept
{
    return word_of(kLeakClasses, found, "unclear");
}
const char* name(LeakKind kind) noexcept
{
    return word_of(kLeakKinds, kind, "in-use-now");
}
const char* name(Pattern pattern) noexcept
{
    return word_of(kPatterns, pattern, "repeated");
}
const char* name(AdviceKind kind) noexcept
{
    return word_of(kAdviceKinds, kind, "redundant-pairs");
}
const char* name(HolderKind kind) noexcept
{
    return word_of(kHolderKinds, kind, "unknown");
}
const char* name(MisuseKind kind) noexcept
{
    return word_of(kMisuseKinds, kind, "unknown");
}
const char* name(BlockState state) noexcept
{
    return word_of(kBlockStates, state, "inactive");
}
const char* name(ProcessEnd::Kind kind) noexcept
{
    return word_of(kProcessEndKinds, kind, "unknown");
}
const char* name(Verdict verdict) noexcept
{
    return word_of(kVerdicts, verdict, "inconclusive");
}
const char* name(PlanVerdict verdict) noexcept
{
    return word_of(kPlanVerdicts, verdict, "nothing-observed");
}
const char* name(ShortageKind kind) noexcept
{
    return word_of(kShortageKinds, kind, "unknown");
}

} // namespace vramscope::report
