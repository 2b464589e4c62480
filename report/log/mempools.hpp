// report/log/mempools.hpp — where the memory of a pool lies, and what first took from it.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "report/log/chunk_cursor.hpp"

namespace vramscope::report {

class Pools {
public:
    void define(const format::Pool& pool)
    {
        const bool host = pool.location_type >= kHost && pool.location_type <= kHostNumaCurrent;
        memory_[pool.handle] = pool.managed ? format::Memory::managed
                               : host       ? format::Memory::pinned
                                            : format::Memory::async;
    }

    void destroy(std::uint64_t handle) { memory_.erase(handle); }

    // The call that first took from a pool.
    struct FirstUse {
        std::uint64_t api = 0;
        std::uint64_t stack = 0; // 0: none
        std::uint64_t ticks = 0;
    };
    void note_use(const Record& record)
    {
        uses_.try_emplace({record.place.device, record.place.pool},
                          FirstUse{record.api, record.stack, record.ticks});
    }
    // Null: no allocation from it was seen.
    const FirstUse* first_use(std::int64_t device, std::uint64_t handle) const
    {
        const auto found = uses_.find({device, handle});
        return found == uses_.end() ? nullptr : &found->second;
    }

    // The kind of memory that an asynchronous allocation from this pool is.
    format::Memory memory(std::uint64_t handle) const
    {
        const auto found = memory_.find(handle);
        return found == memory_.end() ? format::Memory::async : found->second;
    }

    auto state() noexcept { return std::tie(memory_, uses_); } // see report/checkpoint

private:
    // CUmemLocationType: host, host NUMA node, the thread's host NUMA node.
    static constexpr std::int64_t kHost = 2;
    static constexpr std::int64_t kHostNumaCurrent = 4;

    std::unordered_map<std::uint64_t, format::Memory> memory_;
    std::map<std::pair<std::int64_t, std::uint64_t>, FirstUse> uses_; // by device and handle
};

} // namespace vramscope::report
