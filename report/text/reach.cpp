// report/text/reach.cpp — who holds what: a paragraph for each call stack, the lost first.
#include "report/model/reach.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/text/output.hpp"
#include "report/text/views.hpp"
#include "report/words/reach_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostReachRows = 50;

class ReachWriter {
public:
    ReachWriter(std::ostream& stream, const Reach& reach, const TextStyle& style)
        : out_(stream, style), reach_(reach)
    {
    }

    void write()
    {
        headline();
        out_.stream() << fmt::format("  {} of its memory searched, {}\n",
                                     human_bytes(reach_.searched_bytes),
                                     reach_.stopped ? "while it stood still" : "while it ran on");
        for (const std::string& notice : reach_.notices)
            out_.wrapped("", "  ", terminal_safe(notice));
        for (std::size_t at = 0; at < std::min(reach_.rows.size(), kMostReachRows); ++at)
            write(at + 1, reach_.rows[at]);
        if (reach_.rows.size() > kMostReachRows)
            out_.stream() << fmt::format(
                "\n... and {}\n", counted(reach_.rows.size() - kMostReachRows, "more call stack"));
    }

private:
    void headline()
    {
        const bool sure = reach_.possibly.blocks == 0;
        const bool any = reach_.lost.blocks > 0;
        const char* const word = any ? "LOST" : sure ? "HELD" : "POSSIBLY LOST";
        const char* const color = any ? kRed : sure ? kGreen : kYellow;
        out_.wrapped("", out_.painted(word, color) + ": ",
                     fmt::format("of {} that process {} ({}) has, {} lost, {} possibly held, {} "
                                 "held",
                                 in_blocks(reach_.all), reach_.pid,
                                 terminal_safe(file_name(reach_.program)), in_blocks(reach_.lost),
                                 in_blocks(reach_.possibly), in_blocks(reach_.held)));
    }

    void write(std::size_t number, const ReachRow& row)
    {
        const std::string device = row.device < 0 ? "" : fmt::format(", device {}", row.device);
        const std::string memory = row.memory == format::Memory::device
                                       ? ""
                                       : fmt::format(", {} memory", name(row.memory));
        out_.stream() << fmt::format(
            "\n#{}  {} in {}  {}{}{}\n", number, out_.painted(human_bytes(row.all.bytes), "1"),
            counted(row.all.blocks, "block"), terminal_safe(row.api), memory, device);
        for (const ReachGroup& group : row.groups)
            out_.wrapped("    ", fmt::format("{}: ", name(group.verdict)), reach_words(group));
        if (row.more_groups > 0)
            out_.stream() << fmt::format("    ... and {}\n",
                                         counted(row.more_groups, "other holder"));
        if (row.stack.empty())
            out_.stream() << "      (no call stack was recorded)\n";
        out_.stack(row);
    }

    TextOutput out_;
    const Reach& reach_;
};

} // namespace

void write_reach(std::ostream& out, const Reach& reach, const TextStyle& style)
{
    ReachWriter(out, reach, style).write();
}

} // namespace vramscope::report
