// report/replay/contexts.cpp — a case for each record that speaks of a context.
#include "report/replay/contexts.hpp"

namespace vramscope::report {

LoggedContext* Contexts::find_or_add(std::uint64_t id)
{
    const auto found = contexts_.find(id);
    if (found != contexts_.end())
        return &found->second;
    return id != 0 && contexts_.size() < kMostContexts ? &contexts_[id] : nullptr;
}

// Records of other threads may stand before the definition.
void Contexts::apply(const Record& record)
{
    if (const auto defined = record.as<format::Context>()) {
        if (LoggedContext* const context = find_or_add(defined->id)) {
            context->device = defined->device;
            context->primary = defined->primary;
        }
    } else if (const auto opened = record.as<format::ContextOpened>()) {
        LoggedContext* const context = find_or_add(opened->context);
        if (context && !context->opened)
            context->opened = {{opened->api, opened->stack, record.ticks},
                               record.thread,
                               opened->opening,
                               opened->free_before,
                               opened->free_after,
                               opened->total};
    } else if (const auto gone = record.as<format::ContextGone>()) {
        LoggedContext* const context = find_or_add(gone->context);
        if (context && !context->ended)
            context->ended = {record.api, gone->stack, record.ticks};
    }
}

} // namespace vramscope::report
