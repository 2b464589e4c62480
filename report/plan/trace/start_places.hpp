// report/plan/trace/start_places.hpp — the room of blocks that lived before a recording began.
//
// PyTorch leaves a rest of up to 1 MiB with a large block, and a recording has only what was asked
// for. But it always hands out the begin of a free piece: so what is allocated next after such a
// block begins where that block's place ends. Addresses and bytes are those of one device.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "report/plan/trace/trace.hpp"

namespace vramscope::report::plan {

class StartPlaces {
public:
    // With what was there before the first request, which outlives this.
    void begin(std::vector<StartSegment>& at_start);

    void born(std::uint64_t address);
    void gone(std::uint64_t address) { live_.erase(address); }

private:
    struct Older {
        StartBlock* block = nullptr; // null: it was born later
        std::uint64_t end = 0;       // where its segment ends
    };
    std::map<std::uint64_t, Older> live_; // empty for good if nothing was there before
    bool any_ = false;
};

} // namespace vramscope::report::plan
