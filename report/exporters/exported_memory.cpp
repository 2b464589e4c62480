// report/exporters/exported_memory.cpp — see exported_memory.hpp.
#include "report/exporters/exported_memory.hpp"

#include "report/findings/process_end.hpp"

namespace vramscope::report {
namespace {

constexpr std::uint64_t kRecordsPerProgress = 1 << 18;

} // namespace

bool is_wanted(format::Memory memory, std::int16_t device, const ExportOptions& options) noexcept
{
    if (!options.device)
        return is_own_memory(memory);
    return class_of(memory) == format::MemoryClass::device && device == *options.device;
}

MemoryReading::MemoryReading(const LogFile& file)
    : file_(file), running_(is_running(file.header())), reader_(file),
      tables_([this](LogTables& defined) {
          reader_.scan(format::Tag::api, [&](const Record& record) { defined.define(record); });
      }),
      replay_(tables_, file.header().exit_began_ticks)
{
}

void MemoryReading::read(BlockWatch& watch, std::uint64_t until_ticks,
                         const std::function<void(double)>& progress,
                         const std::function<void(const Record&)>& look)
{
    replay_.watch(watch);
    replay_.expect_segments(find_segment_births(file_));
    reader_.hold_back(until_ticks);
    if (!running_) // in a running program they are only on their way
        replay_.expect(reader_.pending_frees());
    std::uint64_t records = 0;
    while (const Record* const record = reader_.next()) {
        if (look)
            look(*record);
        replay_.apply(*record);
        if (++records % kRecordsPerProgress == 0 && progress)
            progress(reader_.fraction_read());
    }
    replay_.finish();
}

std::vector<std::string> MemoryReading::doubts() const
{
    std::vector<std::string> doubts;
    const ProcessEnd end = judge_end(file_.header(), running_);
    if (!end.conclusive())
        doubts.push_back("the program " + describe(end));
    if (const std::uint64_t lost = file_.lost_events(); lost > 0)
        doubts.push_back(std::to_string(lost) + " events were lost");
    if ((reader_.cut() && !running_) || reader_.damaged_chunks() + tables_.undefined() > 0)
        doubts.push_back("the log is cut or damaged");
    return doubts;
}

CallPlace read_site(StackReader& stacks, const Site& site)
{
    CallPlace place = stacks.read(site.api, site.stack, site.last_ticks);
    if (place.stack.empty())
        place.stack.emplace_back().function = place.api;
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
