// report/exporters/event_definitions.cpp — see event_definitions.hpp.
#include "report/exporters/event_definitions.hpp"

#include <utility>

#include "report/exporters/event_rows.hpp"
#include "report/findings/places/frames.hpp"

namespace vramscope::report {

using format::Tag;

namespace {

constexpr std::uint32_t kNoThread = UINT32_MAX;
constexpr std::size_t kMostThreads = 1 << 20; // indexes beyond this are written each time

} // namespace

EventDefinitions::EventDefinitions(const LogTables& tables, const TickClock& clock,
                                   Symbolizer& symbolizer, std::string& out)
    : tables_(tables), clock_(clock), stacks_(tables, symbolizer, ShownFrames::all), out_(out)
{
}

void EventDefinitions::use_api(std::uint64_t id)
{
    if (id < apis_written_.size() && apis_written_[id])
        return;
    if (id >= tables_.apis().size() || !tables_.apis()[id].defined)
        return;
    apis_written_.resize(tables_.apis().size());
    apis_written_[id] = true;
    const Api& api = tables_.apis()[id];
    write_line(out_, ApiLine{id, api.name, api.effect, api.memory});
}

void EventDefinitions::use_stack(std::uint64_t id, std::uint64_t ticks)
{
    if (id == 0 || !tables_.stack(id) || !stacks_written_.insert(id).second)
        return;
    const CallPlace place = stacks_.read(UINT64_MAX, id, ticks);
    const FrameRange visible = visible_frames(place.stack);
    std::vector<FrameOfLine> frames;
    for (const Frame& frame : place.stack)
        frames.push_back({&frame});
    write_line(out_, StackLine{id, place.api, visible.begin, visible.end - visible.begin,
                               place.stack_truncated, std::move(frames)});
}

bool EventDefinitions::write(const Record& record)
{
    switch (record.tag) {
    case Tag::info: // in the header
    case Tag::api:  // this and what follows: when it is used
    case Tag::stack:
    case Tag::python_code:
    case Tag::python_stack:
    case Tag::frame_name:
        return true;
    case Tag::thread:
        if (const auto thread = record.as<format::Thread>())
            write_thread(record.thread, *thread);
        return true;
    case Tag::module_loaded:
        if (const auto module = record.as<format::ModuleLoaded>())
            write_line(out_, ModuleLine{{{clock_.ns(record.ticks)}, record.thread}, *module});
        return true;
    default:
        return false;
    }
}

// Every chunk begins with its thread: most say nothing new.
void EventDefinitions::write_thread(std::uint32_t index, const format::Thread& thread)
{
    const auto tid = static_cast<std::uint32_t>(thread.tid);
    if (index < kMostThreads) {
        if (index >= thread_ids_.size())
            thread_ids_.resize(index + 1, kNoThread);
        if (std::exchange(thread_ids_[index], tid) == tid)
            return;
    }
    write_line(out_, ThreadLine{index, tid, thread.name});
}

} // namespace vramscope::report
