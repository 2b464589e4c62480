// tools/watch/watch_events.hpp — what happened in a program between two looks at it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/model/live.hpp"

namespace vramscope {

enum class WatchEvent { growth, headroom, out_of_memory };

// "growth", "headroom=5%", "headroom=2GiB", "oom"
struct WatchRule {
    WatchEvent event = WatchEvent::growth;
    // Of headroom: what is to be left of each device, as a part of it or in bytes.
    double least_part = 0;
    std::uint64_t least_bytes = 0;
};

// Error (125) for what is no event.
WatchRule read_watch_rule(const std::string& text);

// "growth", "headroom", "oom"
const char* name(WatchEvent event);

// Tells of each event once: of a call stack that grows, when it begins to; of a device that is
// nearly full, when it becomes so; of failed allocations, of all since the last look together.
// One for each program and rule.
class WatchedState {
public:
    explicit WatchedState(const WatchRule& rule) : rule_(rule) {}

    // A sentence about what began since the last look; empty: nothing did.
    std::string look(const report::LiveState& now);

private:
    std::string growth(const report::LiveState& now);
    std::string headroom(const report::LiveState& now);
    std::string shortages(const report::LiveState& now);

    WatchRule rule_;
    std::set<std::string> growing_; // call stacks that do
    std::set<std::int32_t> full_;   // devices that are
    std::uint64_t shortages_ = 0;
};

} // namespace vramscope
