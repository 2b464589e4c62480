// report/exporters/live_metrics.cpp — a row for each name, and a sample for each program or device.
#include "report/exporters/live_metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "report/exporters/metric_text.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

using Type = MetricText::Type;

constexpr std::size_t kMostGrowing = 10;
constexpr std::size_t kPlaceColumns = 100;

struct OfProgram {
    const char* name;
    const char* help;
    Type type;
    std::uint64_t (*read)(const LiveState& state);
};

constexpr OfProgram kOfMemory[] = {
    {"host_bytes", "Pinned and registered host memory.", Type::gauge,
     [](const LiveState& state) { return state.host_bytes; }},
    {"host_blocks", "Allocations of it.", Type::gauge,
     [](const LiveState& state) { return state.host_blocks; }},
};
constexpr OfProgram kCounters[] = {
    {"allocations_total", "Allocations that succeeded.", Type::counter,
     [](const LiveState& state) { return state.allocations; }},
    {"frees_total", "Frees that succeeded.", Type::counter,
     [](const LiveState& state) { return state.frees; }},
    {"out_of_memory_total", "Allocations that failed for want of memory.", Type::counter,
     [](const LiveState& state) { return state.shortages; }},
    {"lost_events_total", "Events that the log lacks.", Type::counter,
     [](const LiveState& state) { return state.lost_events; }},
};

struct OfDevice {
    const char* name;
    const char* help;
    std::optional<std::uint64_t> (*read)(const LiveDevice& device); // nothing: not known
};

constexpr OfDevice kOfDevices[] = {
    {"allocated_bytes", "Memory of a device that the program has.",
     [](const LiveDevice& device) { return std::optional(device.memory.allocated); }},
    {"reserved_bytes", "The same, with what its pools keep.",
     [](const LiveDevice& device) { return std::optional(device.memory.reserved); }},
    {"peak_allocated_bytes", kPeakHelp,
     [](const LiveDevice& device) { return std::optional(device.peak_allocated); }},
    {"blocks", "Allocations on a device that were not freed.",
     [](const LiveDevice& device) { return std::optional(device.blocks); }},
    {"device_used_bytes", "What the driver counts as used, by all processes.",
     [](const LiveDevice& device) {
         return device.memory.used_known ? std::optional(device.memory.used) : std::nullopt;
     }},
    {"limit_bytes", "What a device has, or what a limit leaves of it.",
     [](const LiveDevice& device) {
         return device.limit_bytes > 0 ? std::optional(device.limit_bytes) : std::nullopt;
     }},
};

// A program that was started by a rank has the rank too: the second with it has its pid as well.
std::vector<std::string> labels_of(const std::vector<LiveMetrics>& programs)
{
    std::vector<std::string> all;
    for (const auto& [state, runs] : programs) {
        std::string labels = process_labels(state.program, state.pid, state.rank, state.job);
        if (std::find(all.begin(), all.end(), labels) != all.end())
            labels += "," + metric_label("pid", std::to_string(state.pid));
        all.push_back(std::move(labels));
    }
    return all;
}

class Writer {
public:
    explicit Writer(const std::vector<LiveMetrics>& programs)
        : programs_(programs), labels_(labels_of(programs))
    {
    }

    std::string write()
    {
        text_.begin("running", "1: the program runs, 0: it has ended.");
        for_each([&](const LiveMetrics& program, const std::string& labels) {
            text_.sample(labels, program.runs ? 1 : 0);
        });
        for (const OfDevice& row : kOfDevices)
            add(row);
        add(kOfMemory, true);
        add(kCounters, false);
        add_growth();
        return text_.take();
    }

private:
    template <typename Function>
    void for_each(const Function& function)
    {
        for (std::size_t at = 0; at < programs_.size(); ++at)
            function(programs_[at], labels_[at]);
    }

    template <typename Function>
    void for_each_that_runs(const Function& function)
    {
        for_each([&](const LiveMetrics& program, const std::string& labels) {
            if (program.runs)
                function(program.state, labels);
        });
    }

    void add(const OfDevice& row)
    {
        text_.begin(row.name, row.help);
        for_each_that_runs([&](const LiveState& state, const std::string& labels) {
            for (const LiveDevice& device : state.devices)
                if (const auto value = row.read(device))
                    text_.sample(labels + "," + device_labels(device.ordinal, device.uuid), *value);
        });
    }

    void add(std::span<const OfProgram> rows, bool of_running)
    {
        for (const OfProgram& row : rows) {
            text_.begin(row.name, row.help, row.type);
            for_each([&](const LiveMetrics& program, const std::string& labels) {
                if (program.runs || !of_running)
                    text_.sample(labels, row.read(program.state));
            });
        }
    }

    void add_growth()
    {
        text_.begin("growth_bytes_per_second", kGrowthHelp);
        for_each_that_runs([&](const LiveState& state, const std::string& labels) {
            double per_second = 0;
            for (const Growth& row : state.growing)
                per_second += row.rate.bytes_per_second;
            text_.sample(labels, per_second);
        });
        text_.begin("growing_bytes_per_second",
                    "How fast memory grows that one call stack allocates.");
        for_each_that_runs([&](const LiveState& state, const std::string& labels) {
            for (std::size_t at = 0; at < std::min(state.growing.size(), kMostGrowing); ++at)
                add(state, state.growing[at], labels);
        });
    }

    void add(const LiveState& state, const Growth& row, const std::string& labels)
    {
        text_.sample(fmt::format("{},{},{},{},{}", labels,
                                 device_labels(row.device, uuid_of(state, row)),
                                 metric_label("memory", name(row.memory)),
                                 metric_label("fingerprint", row.fingerprint),
                                 metric_label("place", innermost_in(row, kPlaceColumns))),
                     row.rate.bytes_per_second);
    }

    static std::string uuid_of(const LiveState& state, const Growth& row)
    {
        const auto found =
            std::find_if(state.devices.begin(), state.devices.end(),
                         [&](const LiveDevice& device) { return device.ordinal == row.device; });
        return found == state.devices.end() ? "" : found->uuid;
    }

    const std::vector<LiveMetrics>& programs_;
    const std::vector<std::string> labels_; // of each of them
    MetricText text_;
};

} // namespace

std::string live_metrics(const std::vector<LiveMetrics>& programs)
{
    return Writer(programs).write();
}

} // namespace vramscope::report
