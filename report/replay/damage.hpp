// report/replay/damage.hpp — memory that was written while it was free, or beyond a block.
//
// Sums up the records `damaged`, and finds whose memory it was. The first reading of a log collects
// the addresses, at most kMostFollowed; in the second one MisuseReplay follows them. Memory grows
// with stacks and those addresses.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "report/model/damage.hpp"
#include "report/replay/misuse.hpp"

namespace vramscope::report {

struct LoggedDamage : DamageNumbers {
    LoggedCall allocation;
    LoggedCall ended;   // its free
    LoggedCall noticed; // where the pool looked: without an entry point
    std::uint64_t last_ticks = 0;

    auto state() noexcept
    {
        return std::tie(kind, times, address, offset, wrong_bytes, block_bytes, allocation, ended,
                        noticed, last_ticks);
    }
};

class Damages {
public:
    static constexpr std::size_t kMostFollowed = 65536;

    void note(const Record& record);                              // first reading
    void apply(const Record& record, const MisuseReplay& misuse); // second

    const std::unordered_set<std::uint64_t>& addresses() const noexcept { return addresses_; }
    std::vector<LoggedDamage> groups() const;

    auto state() noexcept { return std::tie(addresses_, groups_); } // see report/checkpoint

private:
    using Key = std::tuple<format::Damage, std::uint64_t, std::uint64_t, std::uint64_t>;
    std::unordered_set<std::uint64_t> addresses_;
    std::map<Key, LoggedDamage> groups_; // keyed by kind and stacks
};

} // namespace vramscope::report
