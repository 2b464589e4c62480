// report/replay/heap/failed_calls.hpp — the calls that the driver refused, summed up by stack.
//
// The frees among them are kept apart, as they may be the program's mistakes. Memory grows with
// stacks, and with at most kMostFollowed addresses.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/model/misuse.hpp"

namespace vramscope::report {

// What this entry point ends, if that is its purpose; none if it is not.
format::KeySpace ends(const Api& api);

struct FailedGroup : FailedNumbers {
    std::uint64_t api = 0;
    std::uint64_t stack = 0;
    std::uint64_t first_ticks = 0;
    std::uint64_t last_ticks = 0;

    auto state() noexcept
    {
        return std::tie(result, calls, bytes, least_bytes, most_bytes, api, stack, first_ticks,
                        last_ticks);
    }
};

class FailedCalls {
public:
    static constexpr std::size_t kMostFollowed = 65536;

    void add(const Record& record, const Api* api); // a free is kept for MisuseReplay
    void add_refused(const Record& record, const format::Failed& failed);
    void add(const FailedCalls& others); // their groups
    // These calls were refused for want of memory, and that was mended.
    void forget(std::uint64_t api, std::uint64_t stack, std::uint64_t calls, std::uint64_t bytes);

    std::vector<FailedGroup> groups() const;
    const std::unordered_set<std::uint64_t>& freed_addresses() const noexcept { return addresses_; }

    auto state() noexcept { return std::tie(groups_, addresses_); } // see report/checkpoint

private:
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, FailedGroup> groups_;
    std::unordered_set<std::uint64_t> addresses_;
};

} // namespace vramscope::report
