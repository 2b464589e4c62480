// report/exporters/metric_text.hpp — numbers as the text format of Prometheus has them.
//
// All samples of one name stand together, below its help. A name that two of our files have has one
// help in both: node_exporter reads them as one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {

inline constexpr const char* kGrowthHelp = "How fast all that grows does, together.";
inline constexpr const char* kPeakHelp = "Most memory of a device that was allocated at once.";

inline std::string metric_label(std::string_view name, std::string_view value)
{
    std::string label = fmt::format("{}=\"", name);
    for (const char c : terminal_safe(value)) {
        if (c == '"' || c == '\\')
            label += '\\';
        label += c;
    }
    return label + '"';
}

// What tells the samples of one process from those of others: files of several lie in one folder
// of node_exporter, which drops what is there twice.
inline std::string process_labels(std::string_view program, std::uint32_t pid,
                                  std::string_view rank, std::string_view job)
{
    std::string labels =
        metric_label("program", program) + "," +
        (rank.empty() ? metric_label("pid", std::to_string(pid)) : metric_label("rank", rank));
    if (!job.empty())
        labels += "," + metric_label("job", job);
    return labels;
}

// As NVIDIA's exporter of DCGM names a device. -1: not known.
inline std::string device_labels(std::int32_t ordinal, std::string_view uuid)
{
    if (ordinal < 0)
        return metric_label("gpu", "unknown");
    return metric_label("gpu", std::to_string(ordinal)) +
           (uuid.empty() ? "" : "," + metric_label("UUID", uuid));
}

class MetricText {
public:
    enum class Type { gauge, counter };

    void begin(const char* name, const char* help, Type type = Type::gauge)
    {
        name_ = name;
        out_ += fmt::format("# HELP vramscope_{0} {1}\n# TYPE vramscope_{0} {2}\n", name, help,
                            type == Type::gauge ? "gauge" : "counter");
    }

    // `labels`: of the process, and what else tells this sample from the others of its name.
    template <typename Number>
    void sample(std::string_view labels, Number number)
    {
        out_ += fmt::format("vramscope_{}{{{}}} {}\n", name_, labels, number);
    }

    std::string take() { return std::move(out_); }

private:
    const char* name_ = "";
    std::string out_;
};

} // namespace vramscope::report
