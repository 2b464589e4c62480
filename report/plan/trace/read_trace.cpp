// report/plan/trace/read_trace.cpp — one reading, and what the log cannot tell in words.
#include "report/plan/trace/read_trace.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/findings/findings.hpp"
#include "report/findings/process_end.hpp"

namespace vramscope::report::plan {
namespace {

std::string counted_things(std::uint64_t count, const char* one, const char* several)
{
    return fmt::format("{} {}", count, count == 1 ? one : several);
}

} // namespace

TracedLog::TracedLog(const std::filesystem::path& path)
    : file_(LogFile::open(path)), reading_(file_, {.runs_on = is_running(file_.header())}),
      heap_(reading_.tables(), file_.header().exit_began_ticks), memory_(tables(), heap_.sites()),
      holders_(heap_, memory_), traces_(reading_.tables(), heap_.sites(), memory_,
                                        reading_.has_segments(), file_.header().start_ticks)
{
    heap_.watch(watches_);
}

void TracedLog::read(const ReadingControl& control)
{
    reading_.read_ahead(heap_, control,
                        [this](const RecordBatch& batch, const SegmentReplay&) { apply(batch); });
    if (starting_)
        end_start();
    for (TraceWatch::DeviceTrace& device : traces_.devices())
        describe(device);
    heap_.finish();
}

void TracedLog::apply(const RecordBatch& batch)
{
    for_each_record(batch, heap_,
                    [this](const Record& record, std::span<const PoolChange> pool_changes) {
                        if (starting_ && record.timed && record.ticks > file_.header().start_ticks)
                            end_start();
                        holders_.before(record);
                        traces_.before(record);
                        heap_.apply(record);
                        memory_.apply(record, pool_changes);
                        holders_.after(record);
                        traces_.after(record);
                    });
}

// What is there was there before the recording, if that is another tool's.
void TracedLog::end_start()
{
    starting_ = false;
    if (imported())
        traces_.settle_start(heap_.segments_now());
}

std::string TracedLog::allocator() const
{
    std::vector<std::string> names;
    for (const DeviceMemory::Device& device : memory_.devices()) {
        for (const DeviceMemory::Allocator& allocator : device.allocators) {
            const std::string& name = tables().apis()[allocator.api].name;
            if (std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
        }
    }
    return fmt::format("{}", fmt::join(names, " and "));
}

std::uint64_t TracedLog::recorded_reserved(std::int32_t device) const noexcept
{
    const DeviceMemory::Device* const known = memory_.device(device);
    return known ? known->reserved_peak.parts.reserved : 0;
}

bool TracedLog::base_known(std::int32_t device) const noexcept
{
    const DeviceMemory::Device* const known = memory_.device(device);
    return known && memory_.now(*known).used_known;
}

Coverage TracedLog::coverage() const
{
    return coverage_of(heap_.counts(), tables(), reading_.reader(), file_.header(),
                       reading_.runs_on());
}

bool TracedLog::ended_by_itself() const
{
    return judge_end(file_.header(), reading_.runs_on()).conclusive();
}

// Contexts and code are there from early on, and stay.
void TracedLog::find_base(Trace& trace) const
{
    const DeviceMemory::Device* const device = memory_.device(trace.device);
    for (const LoggedDevice& known : tables().devices()) {
        if (known.ordinal == trace.device)
            trace.device_bytes = known.bytes;
    }
    if (!device)
        return;
    if (device->total > 0)
        trace.device_bytes = device->total;
    const Waterfall& peak = device->reserved_peak.parts;
    trace.base_bytes = peak.used_known ? peak.unattributed : memory_.now(*device).unattributed;
}

void TracedLog::add_unknown(const TraceWatch::DeviceTrace& device,
                            std::vector<std::string>& unknown) const
{
    const TraceFacts& facts = device.facts;
    const std::string blocks_of = allocator();
    for (const auto& [key, value] : tables().info()) {
        if (key == "imported.unknown")
            unknown.push_back(value);
    }
    if (!blocks_of.empty() && facts.streams == 0 && !imported())
        unknown.push_back(fmt::format("Of the blocks of {0} the log has no streams, and not when "
                                      "other streams were done with them: all are replayed as of "
                                      "one stream, and free at their frees.",
                                      blocks_of));
    else if (facts.synchronisations == 0)
        unknown.emplace_back("The log has no synchronisations of the program's: what is freed is "
                             "replayed as free at once, unless the allocator itself waits.");
    if (blocks_of.empty() && facts.stream_ordered > 0)
        unknown.push_back(fmt::format(
            "{} asked for by stream: allocators that do not serve such requests, as vramscope's "
            "pool, are replayed as if they did, and may need a larger card than is said.",
            counted_things(facts.stream_ordered, "block was", "blocks were")));
    if (facts.managed > 0)
        unknown.push_back(fmt::format(
            "{} left out: the driver keeps such memory on the host where a device is too small.",
            counted_things(facts.managed, "block of managed memory is",
                           "blocks of managed memory are")));
    if (!facts.failed.empty())
        unknown.push_back(fmt::format(
            "{} for want of memory. Each is replayed as if it was served and given back at once: "
            "what the program would have done then, the log does not tell.",
            counted_things(facts.failed.size(), "request failed", "requests failed")));
    if (facts.unseen_frees > 0)
        unknown.push_back(
            fmt::format("{} without a free in the log: each is replayed as freed "
                        "when the log shows that it is gone.",
                        counted_things(facts.unseen_frees, "block left", "blocks left")));
    if (!base_known(device.trace.device))
        unknown.emplace_back("The driver was not asked how much of the device was used: what "
                             "contexts and code need is not in the sizes of cards.");
    else
        unknown.emplace_back("What the driver says is used is of all processes on the device, and "
                             "on another card contexts and code may need more or less.");
}

void TracedLog::describe(TraceWatch::DeviceTrace& device)
{
    find_base(device.trace);
    if (reading_.interrupted())
        device.trace.unknown.emplace_back("The reading was interrupted: all is of what was read.");
    add_unknown(device, device.trace.unknown);
}

} // namespace vramscope::report::plan
