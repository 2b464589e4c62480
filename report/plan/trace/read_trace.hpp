// report/plan/trace/read_trace.hpp — from a log to its traces, and to what explains them.
//
// The replay machinery of reports is fed once, and a TraceWatch with it, so that blocks and sites
// are the same in both. Not to be copied: its parts point to each other.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "report/log/log_file.hpp"
#include "report/model/report.hpp"
#include "report/plan/trace/trace_watch.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/peak.hpp"
#include "report/replay/reading/reading.hpp"

namespace vramscope::report::plan {

class TracedLog {
public:
    // Throws Error (bad_input) for what is no readable log.
    explicit TracedLog(const std::filesystem::path& path);
    TracedLog(const TracedLog&) = delete;
    TracedLog& operator=(const TracedLog&) = delete;

    // Once. Where the reading was interrupted, the traces end there, and say so.
    void read(const ReadingControl& control);

    const LogFile& file() const noexcept { return file_; }
    const TickClock& clock() const noexcept { return reading_.clock(); }
    const LogTables& tables() const noexcept { return reading_.tables(); }
    const HeapReplay& heap() const noexcept { return heap_; }
    const DeviceMemory& memory() const noexcept { return memory_; }
    const PeakHolders& holders() const noexcept { return holders_; }
    const SegmentReplay& segments() const noexcept { return reading_.pool(); }

    // After read(): of each device of which anything was asked, in the order of the first requests.
    const std::deque<TraceWatch::DeviceTrace>& devices() const noexcept
    {
        return traces_.devices();
    }

    std::uint64_t recorded_reserved(std::int32_t device) const noexcept; // at most, by the log
    bool base_known(std::int32_t device) const noexcept;
    Coverage coverage() const;
    bool imported() const { return !tables().info_value("imported").empty(); }
    bool ended_by_itself() const; // what was not freed then never would have been

    std::deque<TraceWatch::DeviceTrace>& devices() noexcept { return traces_.devices(); }

    // Whose blocks the requests are: "PyTorch", or heaps that the program named, with "and" between
    // them; empty: the driver's, or those of vramscope's pool.
    std::string allocator() const;
    std::string pool_mode() const { return std::string(tables().info_value("pool.mode")); }

private:
    void apply(const RecordBatch& batch);
    void end_start();
    void describe(TraceWatch::DeviceTrace& device);
    void add_unknown(const TraceWatch::DeviceTrace& device,
                     std::vector<std::string>& unknown) const;
    void find_base(Trace& trace) const;

    LogFile file_;
    Reading reading_;
    HeapReplay heap_;
    DeviceMemory memory_;
    PeakHolders holders_;
    TraceWatch traces_;
    EachWatch<DeviceMemory, PeakHolders, TraceWatch> watches_{memory_, holders_, traces_};
    bool starting_ = true; // nothing came yet that is later than the log's opening
};

} // namespace vramscope::report::plan
