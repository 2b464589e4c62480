// report/judge/finding_kinds.cpp — how the rows of each kind are read, and what it is called.
#include "report/judge/finding_kinds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/judge/processes_with.hpp"
#include "report/model/report.hpp"
#include "report/words/cuda_results.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/leak_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

template <typename Row, typename Read>
std::vector<FoundRow> read_all(const std::vector<Row>& rows, Read read)
{
    std::vector<FoundRow> found;
    found.reserve(rows.size());
    for (const Row& row : rows)
        found.push_back(read(row));
    return found;
}

std::string on_device(std::int32_t device)
{
    return device < 0 ? "" : fmt::format("on device {}, ", device);
}

FoundRow lost(const Leak& leak, bool proven)
{
    return {{leak.bytes, leak.blocks, &leak},
            leak.process,
            fmt::format("{}{}, {}", on_device(leak.device), name(leak.kind), name(leak.leak_class)),
            proven,
            nullptr,
            &leak.reach};
}

// Of a process that did not come to its end, only what had gone with its context is a leak.
std::vector<FoundRow> leak_rows(const Report& report)
{
    return read_all(report.leaks, [&](const Leak& leak) {
        return lost(leak, leak.kind == LeakKind::at_reset && is_proven(report, leak.process));
    });
}

// At least one byte where anything leaked: a budget of none allows no empty block either.
std::uint64_t leaked_bytes(const Process& process)
{
    const Totals& totals = process.totals;
    return std::max<std::uint64_t>(totals.leaked_bytes, totals.leaked_blocks > 0 ? 1 : 0);
}

std::optional<BudgetLine> leaks_line(const Report&, const Budget& budget, bool fails)
{
    if (!budget.max_leaked && !fails)
        return {};
    return {{"max-leaked", CheckUnit::bytes, static_cast<double>(budget.max_leaked.value_or(0))}};
}

std::vector<FoundRow> import_rows(const Report& report)
{
    return read_all(report.imports, [](const Leak& leak) { return lost(leak, false); });
}

// Few programs import memory: the others' checks have no such line.
std::optional<BudgetLine> imports_line(const Report& report, const Budget&, bool fails)
{
    if (!fails || report.totals.unclosed_imports == 0)
        return {};
    return {{"unclosed-imports", CheckUnit::count, 0}};
}

bool has_steps(const GrowthRate& rate)
{
    return !rate.per.empty();
}

std::vector<FoundRow> growth_rows(const Report& report)
{
    return read_all(report.growth, [&](const Growth& row) {
        return FoundRow{{row.bytes, row.blocks, &row},
                        row.process,
                        on_device(row.device) + rate_words(row.rate) +
                            (row.freed ? ", freed at the end" : ""),
                        is_proven(report, row.process),
                        &row.rate};
    });
}

CheckUnit unit_of(GrowthBudget::Per per)
{
    return per == GrowthBudget::Per::second ? CheckUnit::bytes_per_second
           : per == GrowthBudget::Per::call ? CheckUnit::bytes_per_call
                                            : CheckUnit::bytes_per_step;
}

std::optional<BudgetLine> growth_line(const Report& report, const Budget& budget, bool fails)
{
    if (budget.max_growth)
        return {{"max-growth", unit_of(budget.max_growth->per), budget.max_growth->bytes}};
    if (!fails)
        return {};
    const bool steps = std::any_of(report.growth.begin(), report.growth.end(),
                                   [](const Growth& row) { return has_steps(row.rate); });
    return {{"growth", steps ? CheckUnit::bytes_per_step : CheckUnit::bytes_per_call, 0}};
}

// Only what is made again and again: one context that lives as long as the program is no finding.
std::vector<FoundRow> object_rows(const Report& report)
{
    std::vector<FoundRow> rows;
    for (const ObjectRow& row : report.objects)
        if (row.piles_up())
            rows.push_back({{row.bytes, row.found(), &row},
                            row.process,
                            fmt::format("{}, {}", format::name(row.memory), rate_words(row.rate)),
                            is_proven(report, row.process),
                            &row.rate});
    return rows;
}

// Few programs make such objects: the others' checks have no such line.
std::optional<BudgetLine> objects_line(const Report& report, const Budget&, bool fails)
{
    if (!fails || object_rows(report).empty())
        return {};
    return {{"growing-objects", CheckUnit::count, 0}};
}

std::vector<FoundRow> workspace_rows(const Report& report)
{
    return read_all(report.workspaces, [&](const Workspace& row) {
        return FoundRow{{row.bytes, row.blocks, &row},
                        row.process,
                        fmt::format("{}, {}{}", terminal_safe(row.library), on_device(row.device),
                                    rate_words(row.rate)),
                        is_proven(report, row.process),
                        &row.rate};
    });
}

std::vector<FoundRow> shortage_rows(const Report& report)
{
    return read_all(report.shortages, [](const Shortage& row) {
        return FoundRow{
            {row.requested, 1, &row}, row.process, on_device(row.device) + name(row.kind)};
    });
}

std::uint64_t shortage_count(const Process& process)
{
    return process.shortage_count;
}

// What events are missing for may be a wrong free, and may be none.
std::vector<FoundRow> misuse_rows(const Report& report)
{
    return read_all(report.misuse, [](const Misuse& row) {
        return FoundRow{{row.bytes, row.calls, &row.call},
                        row.process,
                        fmt::format("{}, {}", name(row.kind), result_name(row.result)),
                        row.kind != MisuseKind::unknown};
    });
}

std::vector<FoundRow> damage_rows(const Report& report)
{
    return read_all(report.damage, [](const Damage& row) {
        const CallPlace* const place = row.allocation ? &*row.allocation : &row.noticed;
        return FoundRow{{row.block_bytes, row.times, place}, row.process, format::name(row.kind)};
    });
}

std::vector<FoundRow> failed_call_rows(const Report& report)
{
    return read_all(report.failed_calls, [](const FailedCall& row) {
        return FoundRow{{row.bytes, row.calls, &row, row.least_bytes, row.most_bytes},
                        row.process,
                        result_name(row.result)};
    });
}

// What events are missing for may be what was done in it.
std::vector<FoundRow> stray_context_rows(const Report& report)
{
    std::vector<FoundRow> rows;
    for (const ContextRow& row : report.contexts)
        if (row.stray)
            rows.push_back({{row.bytes ? row.bytes->least : 0, 1, &row},
                            row.process,
                            fmt::format("on device {}, {}", row.device,
                                        row.at_all() ? "host memory alone was allocated in it"
                                                     : "nothing was allocated in it"),
                            is_proven(report, row.process)});
    return rows;
}

std::string imports_open(std::uint64_t, std::uint64_t count)
{
    return never_closed(count);
}

std::string grew(std::uint64_t bytes, std::uint64_t count)
{
    return "memory grew by " + size_in_blocks(bytes, count);
}

std::string objects_piled_up(std::uint64_t, std::uint64_t count)
{
    return counted(count, "object") + " piled up";
}

std::string workspaces_grew(std::uint64_t bytes, std::uint64_t count)
{
    return "workspaces grew by " + size_in_blocks(bytes, count);
}

std::string was_short(std::uint64_t bytes, std::uint64_t count)
{
    return counted(count, "allocation") + " failed for want of memory" +
           (bytes == 0 ? "" : ", " + human_bytes(bytes) + " asked for");
}

std::string wrong_frees(std::uint64_t, std::uint64_t count)
{
    return counted(count, "wrong free");
}

std::string damaged(std::uint64_t, std::uint64_t count)
{
    return counted(count, "block") + was_or_were(count) + "written where it must not";
}

std::string refused(std::uint64_t, std::uint64_t count)
{
    return counted(count, "call") + was_or_were(count) + "refused by the driver";
}

std::string stray(std::uint64_t, std::uint64_t count)
{
    return counted(count, "context") + was_or_were(count) +
           "opened on a device that the process does not work on";
}

} // namespace

// clang-format off
constexpr std::array<FindingKind, kFindings> kFindingKinds = {{
    {.finding = Finding::leaks, .word = "leaks", .called = "leaked", .title = "GpuMemoryLeak",
     .says = "Memory that was allocated here was never freed.",
     .help = "Free the memory on every path that leaves its owner's scope, or let an owner free it in its destructor. "
             "`vramscope leaks LOG` has all call stacks. If it is known and meant, a suppression rule says so: "
             "`vramscope suppress LOG`.",
     .amount = not_freed, .rows = leak_rows, .compared = ComparedBy::bytes, .by_default = true, .line = leaks_line, .whole = leaked_bytes},
    {.finding = Finding::unclosed_imports, .word = "unclosed-imports", .called = "unclosed imports", .title = "UnclosedImport",
     .says = "Memory of another process or API was opened here and never closed.",
     .help = "Close what was opened: cuIpcCloseMemHandle, cuDestroyExternalMemory, or the release of the imported handle.",
     .amount = imports_open, .rows = import_rows, .with = Finding::leaks, .line = imports_line},
    {.finding = Finding::growth, .word = "growth", .called = "growth", .title = "GpuMemoryGrowth",
     .says = "What is allocated here grows with the program's work, up to its end.",
     .help = "Find what keeps the blocks from step to step: `vramscope report LOG` says how fast it grows. Memory that is "
             "freed when the program ends grows all the same.",
     .amount = grew, .rows = growth_rows, .compared = ComparedBy::rate, .line = growth_line},
    {.finding = Finding::objects, .word = "growing-objects", .called = "growing objects", .title = "GrowingObjects",
     .says = "Objects of the driver are made here again and again, and destroyed late or never.",
     .help = "Destroy each stream, event, graph, module, pool and context when its step is done, or make one and use it again. "
             "The driver has memory for it that no allocation shows. `vramscope objects LOG` has them all.",
     .amount = objects_piled_up, .rows = object_rows, .compared = ComparedBy::rate, .with = Finding::growth, .line = objects_line},
    {.finding = Finding::workspaces, .word = "workspaces", .called = "workspaces", .title = "GrowingWorkspaces",
     .says = "A library's own memory grows with the program's work, up to its end.",
     .help = "A library has a workspace for each of its handles. Make a handle once and use it again, or destroy it: "
             "`vramscope report LOG` says where it is made.",
     .amount = workspaces_grew, .rows = workspace_rows, .compared = ComparedBy::rate},
    {.finding = Finding::out_of_memory, .word = "out-of-memory", .called = "out of memory", .title = "OutOfGpuMemory",
     .says = "An allocation failed for want of memory.",
     .help = "`vramscope report LOG` says what was asked for, what was free, and who held the rest.",
     .amount = was_short, .rows = shortage_rows, .anywhere = true, .whole = shortage_count},
    {.finding = Finding::misuse, .word = "misuse", .called = "misuse", .title = "WrongFree",
     .says = "A free was wrong: a double free, a foreign pointer, or the wrong function.",
     .help = "`vramscope report LOG` has the stacks of the allocation, of the first free and of this one.",
     .amount = wrong_frees, .rows = misuse_rows},
    {.finding = Finding::damage, .word = "damage", .called = "damage", .title = "DamagedGpuMemory",
     .says = "Memory was written while it was free, or beyond its block.",
     .help = "The stack is the block's allocation; the write itself was before the time at which it was noticed. "
             "compute-sanitizer finds the kernel.",
     .amount = damaged, .rows = damage_rows},
    {.finding = Finding::failed_calls, .word = "failed-calls", .called = "failed calls", .title = "FailedCall",
     .says = "The driver refused a call that allocates, frees or asks for memory.",
     .help = "Look at the result that is named: the program did not, or went on without the memory.",
     .amount = refused, .rows = failed_call_rows, .anywhere = true},
    {.finding = Finding::stray_contexts, .word = "stray-contexts", .called = "stray contexts", .title = "StrayContext",
     .says = "A context was opened here on a device that the process does not work on: nothing was allocated there, host memory aside.",
     .help = "A thread that has not chosen a device has device 0, and any call that needs a context opens one there: hundreds of "
             "MiB. Call cudaSetDevice in that thread before. `vramscope contexts LOG` has all contexts.",
     .amount = stray, .rows = stray_context_rows},
}};
// clang-format on

namespace {

constexpr bool each_has_its_row()
{
    for (std::size_t at = 0; at < kFindingKinds.size(); ++at)
        if (static_cast<std::size_t>(kFindingKinds[at].finding) != at || !kFindingKinds[at].word)
            return false;
    return true;
}
static_assert(each_has_its_row(), "a row for each Finding, in the order of the enumeration");

} // namespace

const FindingKind& kind_of(Finding finding) noexcept
{
    return kFindingKinds[static_cast<std::size_t>(finding)];
}

bool fails_on(const Budget& budget, const FindingKind& kind) noexcept
{
    const FindingKind& asked = kind_of(kind.with.value_or(kind.finding));
    return budget.fail_on ? (*budget.fail_on)[static_cast<std::size_t>(asked.finding)]
                          : asked.by_default;
}

} // namespace vramscope::report
