// report/import/torch/torch_ranges.hpp — the annotations of one device, as ranges of its lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/import/output/log_writer.hpp"
#include "report/import/torch/torch_clock.hpp"
#include "report/import/torch/torch_snapshot.hpp"

namespace vramscope::report {

class TorchRanges {
public:
    // All outlive this.
    TorchRanges(LogWriter& log, std::uint32_t lane, const TorchClock& clock,
                const TorchSnapshot& snapshot, std::int64_t device);

    // Those that begin or end until this moment of the recording. `now`, in ticks, is of the last
    // record; of the last one from here on is returned.
    std::uint64_t write_until(std::uint64_t time_us, std::uint64_t now);

private:
    void close(const std::string& name, std::uint64_t now);

    LogWriter& log_;
    std::uint32_t lane_;
    const TorchClock& clock_;
    std::vector<const TorchAnnotation*> annotations_;
    std::size_t next_ = 0;
    std::vector<std::string> open_;
};

} // namespace vramscope::report
