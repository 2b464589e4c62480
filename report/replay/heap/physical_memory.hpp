// report/replay/heap/physical_memory.hpp — cuMemCreate's memory, by its handles and mappings.
//
// A handle has references (create, retain) and mappings; the block dies with the last of both.
// After the last release, the handle's number may be given out again while the old block lives on
// in its mappings. Imported and multicast handles are used alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
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

    Block* find(std::uint64_t handle)
    {
        const auto found = handles_.find(handle);
        return found == handles_.end() ? nullptr : &blocks_.at(found->second).block;
    }

    // What is mapped at this address.
    Block* find_mapped(std::uint64_t address)
    {
        const auto behind = mappings_.upper_bound(address);
        if (behind == mappings_.begin())
            return nullptr;
        const auto& [first, mapping] = *std::prev(behind);
        return address - first < mapping.bytes ? &blocks_.at(mapping.key).block : nullptr;
    }

    // The next release of this handle gives its memory back.
    bool hangs_on_one_release(std::uint64_t handle) const
    {
        const auto found = handles_.find(handle);
        if (found == handles_.end())
            return false;
        const Entry& entry = blocks_.at(found->second);
        return entry.references == 1 && entry.mappings == 0;
    }

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
        if (--blocks_.at(key).references == 0) {
            handles_.erase(found);
            released_[handle] = key;
        }
        bury(key, died);
        return true;
    }

    // Takes all references of the handle away: its number was given out again after a release that
    // was not seen.
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
        unmap(address, std::max<std::uint64_t>(bytes, 1), died); // only if one was not seen
        mappings_.insert_or_assign(address, Mapping{key, bytes});
        return true;
    }

    // Ends every mapping that begins in the range. False: there was none.
    template <typename Died>
    bool unmap(std::uint64_t address, std::uint64_t bytes, Died died)
    {
        auto at = mappings_.lower_bound(address);
        bool any = false;
        while (at != mappings_.end() && at->first - address < bytes) {
            const std::uint64_t key = at->second.key;
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

    template <typename Visit>
    void for_each_mapping(Visit visit) const // by address: with that, its bytes, and the memory
    {
        for (const auto& [address, mapping] : mappings_)
            visit(address, mapping.bytes, blocks_.at(mapping.key).block);
    }

    template <typename Visit>
    void for_each_handle(Visit visit) const // that was not released for good, and its memory
    {
        for (const auto& [handle, key] : handles_)
            visit(handle, blocks_.at(key).block);
    }

    auto state() noexcept
    {
        return std::tie(next_key_, blocks_, handles_, released_, mappings_);
    } // see report/checkpoint
    // Whether references, handles and mappings agree.
    bool rebuild() const
    {
        if (next_key_ > INT64_MAX) // no log has made so many
            return false;
        std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> found; // handles, mappings
        for (const auto& [handle, key] : handles_)
            ++found[key].first;
        for (const auto& [address, mapping] : mappings_)
            ++found[mapping.key].second;
        for (const auto& [key, entry] : blocks_) {
            const auto& [handles, mappings] = found[key];
            if (key >= next_key_ || mappings != entry.mappings ||
                handles != (entry.references > 0) || handles + mappings == 0)
                return false;
        }
        const auto is_released = [this](const auto& one) {
            const auto entry = blocks_.find(one.second);
            return entry != blocks_.end() && entry->second.references == 0 &&
                   entry->second.handle == one.first;
        };
        const auto is_held = [this](const auto& one) {
            return blocks_.at(one.second).handle == one.first;
        };
        return found.size() == blocks_.size() &&
               std::all_of(handles_.begin(), handles_.end(), is_held) &&
               std::all_of(released_.begin(), released_.end(), is_released);
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
        const auto found = released_.find(handle);
        if (found == released_.end())
            return false;
        blocks_.at(found->second).references = 1;
        handles_[handle] = found->second;
        released_.erase(found);
        return true;
    }

    struct Mapping {
        std::uint64_t key;
        std::uint64_t bytes;
    };

    template <typename Died>
    void bury(std::uint64_t key, Died& died)
    {
        const auto entry = blocks_.find(key);
        if (entry->second.references != 0 || entry->second.mappings != 0)
            return;
        const auto released = released_.find(entry->second.handle);
        if (released != released_.end() && released->second == key)
            released_.erase(released);
        died(entry->second.block);
        blocks_.erase(entry);
    }

    std::uint64_t next_key_ = 0;
    std::map<std::uint64_t, Entry> blocks_;
    std::unordered_map<std::uint64_t, std::uint64_t> handles_;  // -> key
    std::unordered_map<std::uint64_t, std::uint64_t> released_; // -> key of the last, still mapped
    std::map<std::uint64_t, Mapping> mappings_;                 // keyed by address
};

} // namespace vramscope::report
