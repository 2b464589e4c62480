// report/model/leaks.cpp — rows of several processes together, and the words of the JSON report.
#include "report/model/leaks.hpp"

#include <iterator>
#include <utility>

namespace vramscope::report {

void LostRows::take(LostRows&& more)
{
    const auto move_to = [](auto& all, auto& some) {
        std::move(some.begin(), some.end(), std::back_inserter(all));
    };
    move_to(leaks, more.leaks);
    move_to(imports, more.imports);
    move_to(owners, more.owners);
    move_to(graph_memory, more.graph_memory);
    move_to(reservations, more.reservations);
    move_to(sums, more.sums);
}

void LostRows::sort()
{
    for (std::vector<Leak>* const rows : {&leaks, &imports, &owners, &graph_memory, &reservations})
        sort_by_size(*rows);
    sort_by_size(sums);
}

const char* name(LeakKind kind) noexcept
{
    switch (kind) {
    case LeakKind::at_exit:
        return "leaked-at-exit";
    case LeakKind::at_reset:
        return "leaked-at-reset";
    case LeakKind::at_crash:
        return "in-use-at-crash";
    case LeakKind::unclosed_import:
        return "unclosed-import";
    case LeakKind::never_destroyed:
        return "never-destroyed";
    case LeakKind::graph_owned:
        return "graph-owned";
    case LeakKind::in_use:
        break;
    }
    return "in-use-now";
}

const char* name(Pattern pattern) noexcept
{
    switch (pattern) {
    case Pattern::once:
        return "once";
    case Pattern::several:
        return "several";
    case Pattern::repeated:
        break;
    }
    return "repeated";
}

} // namespace vramscope::report
