// report/job/reduced_table.hpp — a reduced table as a join takes it (exporters/reduced.hpp writes
// it). It is hostile input: whatever it holds, what comes out is bounded by its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/job/reduced_lines.hpp"
#include "report/model/call_place.hpp"
#include "report/model/job.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

struct ReducedSite {
    std::string fingerprint{};
    std::string api{};
    std::size_t frame = ReducedFrame::kNone; // the innermost
    std::size_t own = 0; // frames outwards from there to the one that is told first
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1; // -1: not known
    std::uint64_t at_peak_bytes = 0;
    std::uint64_t leaked_bytes = 0;
    std::uint64_t growth_bytes_per_step = 0;
    std::string step{}; // what that is per: a range's name, or "call"; empty: it does not grow
    std::uint64_t growth_bytes_per_second = 0; // 0: none, or not known
};

struct ReducedDevice {
    std::int32_t ordinal = -1;
    std::uint64_t total_bytes = 0;
    std::uint64_t peak_allocated_bytes = 0;
    std::uint64_t peak_reserved_bytes = 0;
};

struct ReducedProcess {
    JobProcess about; // its number is not known yet
    std::optional<std::uint32_t> rank;
    std::uint32_t world_size = 0; // 0: not said
    std::uint64_t started_ns = 0; // real time; 0: not known
    std::uint32_t parent_pid = 0; // 0: not known
    bool replaced = false;        // by exec
    std::string job;
    std::string program;
    std::vector<Headline> headlines; // those of kinds that are known
    std::vector<ReducedDevice> devices;
    std::vector<ReducedFrame> frames;
    std::vector<ReducedSite> sites;

    // With the innermost frames of its stack, few of them: a table may have many sites below one
    // long chain.
    CallPlace place_of(const ReducedSite& site) const;
};

// Whether a file that begins like this is one.
bool is_reduced(std::string_view head) noexcept;

// One process after the other, as a table may have thousands. Error (bad_input), with the line, for
// what is no reduced table, one of another version, or one that was cut; what stands before that
// line was given.
void read_reduced(std::istream& in, const std::string& name,
                  const std::function<void(const ReducedProcess&)>& give);

} // namespace vramscope::report
