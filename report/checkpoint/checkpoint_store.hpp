// report/checkpoint/checkpoint_store.hpp — where checkpoints are kept from one reading to the next.
#pragma once

#include <string>
#include <string_view>

#include "tracker/format/layout.hpp"

namespace vramscope::report {

// What it gives back is not trusted.
class CheckpointStore {
public:
    virtual ~CheckpointStore() = default;

    // Of a log there are two at most: of readings that know what an allocator of the program's
    // cuts, and of those that follow a log and find out late.
    enum class Kind { exact, late };
    virtual std::string find(const format::FileHeader& log, Kind kind) = 0; // empty: there is none
    virtual void keep(const format::FileHeader& log, Kind kind, std::string_view checkpoint) = 0;
};

} // namespace vramscope::report
