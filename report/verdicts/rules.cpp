// report/verdicts/rules.cpp — a row for each kind of finding and each budget.
#include "report/verdicts/rules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string size_in_blocks(std::uint64_t bytes, std::uint64_t count)
{
    return human_bytes(bytes) + " in " + counted(count, "block");
}

std::string not_freed(std::uint64_t bytes, std::uint64_t count)
{
    return size_in_blocks(bytes, count) + (count == 1 ? " was not freed" : " were not freed");
}

std::string never_closed(std::uint64_t, std::uint64_t count)
{
    return counted(count, "import") + (count == 1 ? " was never closed" : " were never closed");
}

std::string grew(std::uint64_t bytes, std::uint64_t count)
{
    return "memory grew by " + size_in_blocks(bytes, count);
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
    return counted(count, "block") + (count == 1 ? " was" : " were") + " written where it must not";
}

std::string refused(std::uint64_t, std::uint64_t count)
{
    return counted(count, "call") + (count == 1 ? " was" : " were") + " refused by the driver";
}

constexpr const char* kFreeIt =
    "Free the memory on every path that leaves its owner's scope, or let an owner free it in its "
    "destructor. `vramscope leaks LOG` has all call stacks. If it is known and meant, a "
    "suppression rule says so: `vramscope suppress LOG`.";

} // namespace

// clang-format off
const std::array<ProblemRule, kRules> kRuleTable = {{
    {"leaks", "GpuMemoryLeak", "Memory that was allocated here was never freed.", kFreeIt, not_freed},
    {"unclosed-imports", "UnclosedImport", "Memory of another process or API was opened here and never closed.",
     "Close what was opened: cuIpcCloseMemHandle, cuDestroyExternalMemory, or the release of the imported handle.", never_closed},
    {"growth", "GpuMemoryGrowth", "What is allocated here grows with the program's work, up to its end.",
     "Find what keeps the blocks from step to step: `vramscope report LOG` says how fast it grows. Memory that is freed when the "
     "program ends grows all the same.", grew},
    {"oom", "OutOfGpuMemory", "An allocation failed for want of memory.",
     "`vramscope report LOG` says what was asked for, what was free, and who held the rest.", was_short},
    {"misuse", "WrongFree", "A free was wrong: a double free, a foreign pointer, or the wrong function.",
     "`vramscope report LOG` has the stacks of the allocation, of the first free and of this one.", wrong_frees},
    {"damage", "DamagedGpuMemory", "Memory was written while it was free, or beyond its block.",
     "The stack is the block's allocation; the write itself was before the time at which it was noticed. compute-sanitizer finds "
     "the kernel.", damaged},
    {"failed-calls", "FailedCall", "The driver refused a call that allocates, frees or asks for memory.",
     "Look at the result that is named: the program did not, or went on without the memory.", refused},
    {"max-peak", "PeakMemoryBudget", "More memory was allocated at once on one device than the budget allows.",
     "`vramscope peak LOG` has what the peak was made of.", nullptr},
    {"max-reserved", "ReservedMemoryBudget", "More memory was reserved on one device than the budget allows.",
     "`vramscope frag LOG` has what the pool kept, and why.", nullptr},
    {"max-fragmentation", "FragmentationBudget", "More of the reserved memory was of no use than the budget allows.",
     "`vramscope frag LOG` has the pieces that nothing could use.", nullptr},
    {"max-driver-calls", "DriverCallBudget", "More allocations and frees reached the driver than the budget allows.",
     "`vramscope churn LOG` has the places that allocate and free most often.", nullptr},
    {"test", "TestMemoryBudget", "A test left more memory behind, or allocated more at once, than the budget allows, or it did not end.",
     "The test is judged by itself: what it allocated while it ran. The call is the largest of its leaks; `vramscope report LOG` has "
     "all tests.", nullptr},
}};
// clang-format on

const ProblemRule& rule_of(std::string_view id)
{
    const std::string_view known = id == "max-leaked"   ? "leaks"
                                   : id == "max-growth" ? "growth"
                                                        : id;
    const auto found = std::find_if(kRuleTable.begin(), kRuleTable.end(),
                                    [&](const ProblemRule& rule) { return rule.id == known; });
    return found == kRuleTable.end() ? kRuleTable.front() : *found;
}

} // namespace vramscope::report
