// report/exporters/exported_memory.cpp — see exported_memory.hpp.
#include "report/exporters/exported_memory.hpp"

#include "report/findings/process_end.hpp"

namespace vramscope::report {

bool is_wanted(format::Memory memory, std::int16_t device, const ExportOptions& options) noexcept
{
    if (!options.device)
        return is_own_memory(memory);
    return class_of(memory) == format::MemoryClass::device && device == *options.device;
}

MemoryReading::MemoryReading(const LogFile& file, std::uint64_t until_ticks)
    : reading_(file, {.until_ticks = until_ticks, .runs_on = is_running(file.header())}),
      replay_(reading_.tables(), file.header().exit_began_ticks)
{
}

void MemoryReading::read(BlockWatch& watch, const std::function<void(double)>& progress,
                         const std::function<void(const Record&)>& look)
{
    replay_.watch(watch);
    reading_.read(replay_, {.progress = progress, .interrupted = {}}, [&](const Record& record) {
        if (look)
            look(record);
        replay_.apply(record);
    });
    replay_.finish();
}

std::vector<std::string> doubts_about(const Reading& reading)
{
    std::vector<std::string> doubts;
    const ProcessEnd end = judge_end(reading.file().header(), reading.runs_on());
    if (!end.conclusive())
        doubts.push_back("the program " + describe(end));
    if (const std::uint64_t lost = reading.file().lost_events(); lost > 0)
        doubts.push_back(std::to_string(lost) + " events were lost");
    const LogReader& reader = reading.reader();
    if ((reader.cut() && !reading.runs_on()) ||
        reader.damaged_chunks() + reading.tables().undefined() > 0)
        doubts.push_back("the log is cut or damaged");
    return doubts;
}

CallPlace read_site(StackReader& stacks, const Site& site)
{
    CallPlace place = stacks.read(site.api, site.stack, site.last_ticks);
    if (place.stack.empty())
        place.stack = {Frame{.function = place.api, .file = {}, .module = {}}};
    return place;
}

std::vector<std::span<const Frame>> code_places(const std::vector<Frame>& stack)
{
    std::vector<std::span<const Frame>> places;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < stack.size(); ++at) {
        if (stack[at].inlined && at + 1 < stack.size())
            continue;
        places.emplace_back(stack.data() + begin, at + 1 - begin);
        begin = at + 1;
    }
    return places;
}

} // namespace vramscope::report
