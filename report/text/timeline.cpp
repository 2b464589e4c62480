// report/text/timeline.cpp — a chart of bands for each device, and the marks below it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostCharts = 4;
constexpr std::size_t kHeight = 12;
constexpr std::size_t kMostColumns = 72;
constexpr std::size_t kLabel = 11; // columns left of the chart
constexpr std::size_t kShownMarkTimes = 20;

struct Column {
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
};

std::size_t column_at(std::uint64_t ns, std::uint64_t end_ns, std::size_t width)
{
    if (end_ns == 0)
        return 0;
    const double at = static_cast<double>(ns) / static_cast<double>(end_ns);
    return std::min(width - 1, static_cast<std::size_t>(at * static_cast<double>(width)));
}

// The most of each column's time; a value holds until the next.
std::vector<Column> columns_of(const MemoryReport& device, std::uint64_t end_ns, std::size_t width)
{
    std::vector<Column> columns(width);
    std::uint64_t used = 0;
    for (std::size_t at = 0; at < device.timeline.size(); ++at) {
        const MemoryTime& time = device.timeline[at];
        used = time.used.value_or(used);
        const std::size_t first = column_at(time.ns, end_ns, width);
        const std::size_t end = at + 1 < device.timeline.size()
                                    ? column_at(device.timeline[at + 1].ns, end_ns, width)
                                    : width - 1;
        for (std::size_t column = first; column <= std::max(first, end); ++column) {
            const bool in_it = column == first;
            Column& cell = columns[column];
            cell.allocated = std::max(cell.allocated, in_it ? time.peak_allocated : time.allocated);
            cell.reserved = std::max(cell.reserved, in_it ? time.peak_reserved : time.reserved);
            cell.used = std::max(cell.used, used);
        }
    }
    return columns;
}

std::uint64_t most_used(const MemoryReport& device)
{
    std::uint64_t most = 0;
    for (const MemoryTime& time : device.timeline)
        most = std::max(most, time.used.value_or(0));
    return most;
}

// What a cell of the chart shows.
struct Marks {
    const char *allocated, *half, *reserved, *used;
};
constexpr Marks kPlain{"#", " ", "-", "."};
constexpr Marks kBlocks{"\u2588", "\u2584", "\u2591", "\u00b7"};

// A chart of kHeight rows; what is allocated is drawn by half of them where there are half blocks.
class Chart {
public:
    Chart(std::uint64_t top, bool with_used, bool half_blocks)
        : top_(top), with_used_(with_used), steps_(half_blocks ? 2 : 1),
          marks_(half_blocks ? kBlocks : kPlain)
    {
    }

    std::string line(const std::vector<Column>& columns, std::size_t row) const
    {
        std::string line;
        for (const Column& column : columns)
            line += cell(column, row);
        line.erase(line.find_last_not_of(' ') + 1);
        return line;
    }

    std::string legend() const
    {
        return fmt::format(
            "[{} allocated  {} reserved beside it{}]", marks_.allocated, marks_.reserved,
            with_used_ ? fmt::format("  {} others, contexts, the driver", marks_.used) : "");
    }

private:
    const char* cell(const Column& column, std::size_t row) const
    {
        const std::size_t allocated = steps_of(column.allocated, steps_);
        return allocated >= row * steps_                       ? marks_.allocated
               : steps_ == 2 && allocated == row * 2 - 1       ? marks_.half
               : steps_of(column.reserved, 1) >= row           ? marks_.reserved
               : with_used_ && steps_of(column.used, 1) >= row ? marks_.used
                                                               : " ";
    }

    // A band reaches a step if it fills half of it at least; what is there at all has one.
    std::size_t steps_of(std::uint64_t bytes, std::size_t steps_of_row) const
    {
        const double steps = static_cast<double>(bytes) / static_cast<double>(top_) *
                             static_cast<double>(kHeight * steps_of_row);
        return std::max<std::size_t>(static_cast<std::size_t>(steps + 0.5), bytes > 0);
    }

    std::uint64_t top_;
    bool with_used_;
    std::size_t steps_;
    const Marks& marks_;
};

void write_chart(TextOutput& out, const Chart& chart, const std::vector<Column>& columns,
                 std::uint64_t top, std::uint64_t end_ns)
{
    for (std::size_t row = kHeight; row > 0; --row) {
        const std::string label = row == kHeight       ? human_bytes(top)
                                  : row == kHeight / 2 ? human_bytes(top / 2)
                                                       : "";
        out.stream() << fmt::format("{:>{}} |{}\n", label, kLabel - 2, chart.line(columns, row));
    }
    const std::string end = human_time(end_ns);
    out.stream() << fmt::format("{:>{}} +{}\n", "0 B", kLabel - 2, std::string(columns.size(), '-'))
                 << std::string(kLabel, ' ') << '0'
                 << std::string(
                        columns.size() > end.size() + 1 ? columns.size() - end.size() - 1 : 1, ' ')
                 << end << '\n';
}

// a, b, c … below the chart; where several meet, the first stands for them.
void write_marks(TextOutput& out, const Process& process, std::uint64_t end_ns, std::size_t width)
{
    if (process.marks.empty())
        return;
    const std::size_t shown = std::min(kShownMarkTimes, process.marks.size());
    std::string line(width, ' ');
    for (std::size_t at = shown; at-- > 0;)
        line[column_at(process.marks[at].ns, end_ns, width)] = static_cast<char>('a' + at);
    line.erase(line.find_last_not_of(' ') + 1);
    out.stream() << std::string(kLabel, ' ') << line << '\n';
    for (std::size_t at = 0; at < shown; ++at)
        out.wrapped("",
                    fmt::format("  {} {:>10}  ", static_cast<char>('a' + at),
                                human_time(process.marks[at].ns)),
                    terminal_safe(process.marks[at].name));
    if (shown < process.mark_count)
        out.stream() << "  ... and " << counted(process.mark_count - shown, "more mark") << '\n';
}

void write_device_timeline(TextOutput& out, const Report& report, const Process& process,
                           const MemoryReport& device)
{
    out.stream() << '\n'
                 << out.painted(device_title(report, process, device.device, device.total_bytes),
                                "1")
                 << '\n';
    const std::uint64_t used = most_used(device);
    // Beside much that others use, ours would be a line at the bottom.
    const bool with_used = used > 0 && used / 4 <= device.peak_reserved();
    const std::uint64_t top = std::max(with_used ? used : 0, device.peak_reserved());
    if (top == 0) {
        out.stream() << "  nothing was allocated here\n";
        return;
    }
    const std::uint64_t end_ns = std::max(process.duration_ns, device.timeline.back().ns);
    const std::size_t width = std::min(kMostColumns, out.width() - kLabel - 1);
    const Chart chart(top, with_used, out.style().half_blocks);
    write_chart(out, chart, columns_of(device, end_ns, width), top, end_ns);
    write_marks(out, process, end_ns, width);
    std::string text =
        fmt::format("peaks: {} allocated at {}, {} reserved at {}",
                    human_bytes(device.peak_allocated()), human_time(device.at_peak.ns),
                    human_bytes(device.peak_reserved()), human_time(device.at_reserved_peak.ns));
    if (used > 0)
        text += fmt::format(", {} used on the device by all, as the driver was asked",
                            human_bytes(used));
    out.wrapped("", "  ", text);
    out.wrapped("", "  ", chart.legend());
}

} // namespace

void write_timeline(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextOutput text(out, style);
    std::size_t devices = 0;
    std::uint64_t peak = 0;
    std::uint64_t end_ns = 0;
    for (const Process& process : report.processes) {
        devices += process.memory.size();
        end_ns = std::max(end_ns, process.duration_ns);
        for (const MemoryReport& device : process.memory)
            peak = std::max(peak, device.peak_allocated());
    }
    out << text.painted("TIMELINE", "1");
    if (peak == 0)
        out << ": no device memory was seen\n";
    else
        out << fmt::format(": at most {} allocated on {}, over {}\n", human_bytes(peak),
                           devices == 1 ? "one device" : "one of " + counted(devices, "device"),
                           human_time(end_ns));
    std::size_t shown = 0;
    for (const Process& process : report.processes) {
        for (const MemoryReport& device : process.memory) {
            if (shown++ < kMostCharts)
                write_device_timeline(text, report, process, device);
        }
    }
    if (devices > kMostCharts)
        out << "\n... and " << counted(devices - kMostCharts, "more device")
            << "; --json has all\n";
    write_by_owner(text, report);
    write_doubts(text, report);
    write_next(text, "vramscope peak", report);
}

} // namespace vramscope::report
