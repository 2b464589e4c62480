// report/words/leak_words.cpp — the sentences about leaks that every form has.
#include "report/words/leak_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

std::string size_in_blocks(std::uint64_t bytes, std::uint64_t blocks)
{
    return human_bytes(bytes) + " in " + counted(blocks, "block");
}

std::string was_or_were(std::uint64_t count)
{
    return count == 1 ? " was " : " were ";
}

std::string not_freed(std::uint64_t bytes, std::uint64_t blocks)
{
    return size_in_blocks(bytes, blocks) + was_or_were(blocks) + "not freed";
}

std::string never_closed(std::uint64_t imports)
{
    return counted(imports, "import") + was_or_were(imports) + "never closed";
}

// One that several processes have is one.
std::uint64_t leaked_stacks(const Report& report)
{
    std::uint64_t stacks = 0;
    if (report.processes.size() > 1) {
        for (const SharedLeak& shared : report.ranks.leaks) {
            std::uint64_t most = 0;
            for (const std::size_t at : shared.leaks)
                most = std::max(most, report.leaks[at].stacks);
            stacks += most;
        }
        return stacks;
    }
    for (const Leak& leak : report.leaks)
        stacks += leak.stacks;
    return stacks;
}

std::string all_that_is_left(const Report& report)
{
    const Totals& totals = report.totals;
    std::string words;
    if (totals.leaked_blocks > 0)
        words = fmt::format("{}, from {}", not_freed(totals.leaked_bytes, totals.leaked_blocks),
                            counted(leaked_stacks(report), "call stack"));
    if (totals.unclosed_imports > 0)
        words += (words.empty() ? "" : "; ") + never_closed(totals.unclosed_imports);
    return words;
}

std::string nothing_leaked(const Totals& totals)
{
    if (totals.allocations == 0)
        return "nothing leaked; no allocation succeeded";
    const std::string seen = counted(totals.allocations, "allocation") + " seen";
    return totals.suppressed_blocks > 0 ? "nothing else leaked; " + seen
                                        : "nothing leaked; " + seen + ", all freed";
}

} // namespace vramscope::report
