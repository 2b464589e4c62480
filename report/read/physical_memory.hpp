// report/read/physical_memory.hpp — cuMemCreate's memory: it is back only when released and
// unmapped.
//
// A handle has references (create, retain) and mappings; the block dies with the last of both.
// After the last release the handle's number may be given out again while the old block lives on in
// its mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace vramscope::report {

template <typename Block>
class PhysicalMemory {
public:
    // The handle must not be known: see forget_handle().
    void create(std::uint64_t handle, Block block)
    {
        const std::uint64_t key = next_key_++;
        blocks_.emplace(key, Entry{std::move(block), handle, 1, 0});
        handles_[handle] = key;
    }

    bool knows(std::uint64_t handle) const { return handles_.count(handle) != 0; }

    bool retain(std::uint64_t handle)
    {
        const auto found = handles_.find(handle);
        if (found == handles_.end())
            return retain_mapped(handle);
        ++blocks_.at(found->second).references;
        return true;
    }

    // Calls `died` with the block if that was the end of it. False: no such handle.
    template <typename Died>
    bool release(std::uint64_t handle, Died died)
    {
        const auto found = handles_.find(handle);
        if (found == handles_.end())
            return false;
        const std::uint64_t key = found->second;
        if (--blocks_.at(key).references == 0)
            handles_.erase(found);
        bury(key, died);
        return true;
    }

    // Takes the handle's references away at once: its number was given out again, a release was not
    // seen.
    template <typename Died>
    void forget_handle(std::uint64_t handle, Died died)
    {
        const auto found = handles_.find(handle);
        blocks_.at(found->second).references = 1;
        release(handle, died);
    }

    template <typename Died>
    bool map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle, Died died)
    {
        const auto found = handles_.find(handle);
        if (found == handles_.end())
            return false;
        const std::uint64_t key = found->second;
        ++blocks_.at(key).mappings;
        unmap(address, bytes, died); // only if an unmap was not seen
        mappings_.emplace(address, key);
        return true;
    }

    // Ends every mapping that begins in the range. False: there was none.
    template <typename Died>
    bool unmap(std::uint64_t address, std::uint64_t bytes, Died died)
    {
        auto at = mappings_.lower_bound(address);
        bool any = false;
        while (at != mappings_.end() && at->first - address < bytes) {
            const std::uint64_t key = at->second;
            at = mappings_.erase(at);
            --blocks_.at(key).mappings;
            bury(key, died);
            any = true;
        }
        return any;
    }

    template <typename Visit>
    void for_each(Visit visit)
    {
        for (auto& [key, entry] : blocks_)
            visit(entry.block);
    }

private:
    struct Entry {
        Block block;
        std::uint64_t handle;
        std::uint64_t references;
        std::uint64_t mappings;
    };

    // A handle that was released for good comes again from a mapping of its memory.
    bool retain_mapped(std::uint64_t handle)
    {
        for (auto entry = blocks_.rbegin(); entry != blocks_.rend(); ++entry)
            if (entry->second.handle == handle && entry->second.references == 0) {
                entry->second.references = 1;
                handles_[handle] = entry->first;
                return true;
            }
        return false;
    }

    template <typename Died>
    void bury(std::uint64_t key, Died& died)
    {
        const auto entry = blocks_.find(key);
        if (entry->second.references != 0 || entry->second.mappings != 0)
            return;
        died(entry->second.block);
        blocks_.erase(entry);
    }

    std::uint64_t next_key_ = 0;
    std::map<std::uint64_t, Entry> blocks_;
    std::unordered_map<std::uint64_t, std::uint64_t> handles_; // -> key
    std::map<std::uint64_t, std::uint64_t> mappings_;          // address -> key
};

} // namespace vramscope::report
