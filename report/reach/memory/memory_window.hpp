// report/reach/memory/memory_window.hpp — words of memory that is read from begin to end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

class MemoryWindow {
public:
    MemoryWindow(const ProcessMemory& memory, Address end) : memory_(memory), end_(end) {}

    std::optional<std::uint64_t> word(Address at)
    {
        if (at < begin_ || at + sizeof(std::uint64_t) > begin_ + words_.size() * sizeof words_[0]) {
            if (at + sizeof(std::uint64_t) > end_)
                return std::nullopt;
            words_.resize(std::min<std::size_t>(kBytes, end_ - at) / sizeof words_[0]);
            begin_ = at;
            if (!memory_.read(at, words_.data(), words_.size() * sizeof words_[0])) {
                words_.clear();
                return std::nullopt;
            }
        }
        return words_[(at - begin_) / sizeof words_[0]];
    }

private:
    static constexpr std::size_t kBytes = 64 << 10;

    const ProcessMemory& memory_;
    Address end_;
    Address begin_ = 0;
    std::vector<std::uint64_t> words_;
};

} // namespace vramscope::report
