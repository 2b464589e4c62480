// report/log/mempools.hpp — where the memory of a pool lies.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tracker/format/record.hpp"

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

    // The kind of memory that an asynchronous allocation from this pool is.
    format::Memory memory(std::uint64_t handle) const
    {
        const auto found = memory_.find(handle);
        return found == memory_.end() ? format::Memory::async : found->second;
    }

private:
    // CUmemLocationType: host, host NUMA node, the thread's host NUMA node.
    static constexpr std::int64_t kHost = 2;
    static constexpr std::int64_t kHostNumaCurrent = 4;

    std::unordered_map<std::uint64_t, format::Memory> memory_;
};

} // namespace vramscope::report
