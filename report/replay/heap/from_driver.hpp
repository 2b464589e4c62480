// report/replay/heap/from_driver.hpp — whether an allocation reached the driver.
#pragma once

#include <cstdint>
#include <tuple>

#include "report/log/chunk_cursor.hpp"

namespace vramscope::report {

// To be given each record of a log, before the replay has it.
class FromDriver {
public:
    void note(const Record& record) noexcept
    {
        if (record.tag == format::Tag::alloc) {
            // The pool records a segment right before the allocation that it took it for.
            last_ = !record.pooled || (segment_taken_ && segment_thread_ == record.thread);
            segment_taken_ = false;
        } else if (record.tag == format::Tag::segment) {
            segment_taken_ = true;
            segment_thread_ = record.thread;
        }
    }
    bool last() const noexcept { return last_; } // of the allocation that came last

    auto state() noexcept
    {
        return std::tie(last_, segment_taken_, segment_thread_);
    } // see report/checkpoint

private:
    bool last_ = true;
    bool segment_taken_ = false; // the last record's thread took it
    std::uint32_t segment_thread_ = 0;
};

} // namespace vramscope::report
