// report/exporters/event_definitions.cpp — see event_definitions.hpp.
#include "report/exporters/event_definitions.hpp"

#include <utility>

#include "report/exporters/json_line.hpp"
#include "report/findings/places/frames.hpp"
#include "report/words/words.hpp"

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
    JsonLine(out_, "api")
        .number("id", id)
        .text("entry_point", api.name)
        .text("effect", name(api.effect))
        .text("memory", name(api.memory))
        .end();
}

void EventDefinitions::use_stack(std::uint64_t id, std::uint64_t ticks)
{
    if (id == 0 || !tables_.stack(id) || !stacks_written_.insert(id).second)
        return;
    const CallPlace place = stacks_.read(UINT64_MAX, id, ticks);
    const FrameRange visible = visible_frames(place.stack);
    JsonLine line(out_, "stack");
    line.number("id", id).text_or_null("call", place.api);
    line.number("first_visible", visible.begin).number("visible", visible.end - visible.begin);
    line.flag("truncated", place.stack_truncated);
    line.open_array("frames");
    for (const Frame& frame : place.stack)
        write_frame(line, frame);
    line.close().end();
}

void EventDefinitions::write_frame(JsonLine& line, const Frame& frame)
{
    line.open_object();
    line.text_or_null("function", frame.function).text_or_null("file", frame.file);
    if (frame.line > 0)
        line.number("line", frame.line);
    else
        line.null("line");
    line.text_or_null("module", frame.module).hex("offset", frame.offset);
    line.flag("inlined", frame.inlined).flag("library", frame.library);
    if (frame.python)
        line.flag("python", true);
    line.close();
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
            write_module(record, *module);
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
    JsonLine(out_, "thread")
        .number("id", index)
        .number("tid", tid)
        .text_or_null("name", thread.name)
        .end();
}

void EventDefinitions::write_module(const Record& record, const format::ModuleLoaded& module)
{
    JsonLine(out_, "module_loaded")
        .number("ns", clock_.ns(record.ticks))
        .number("thread", record.thread)
        .number("module", module.id)
        .text("path", module.path)
        .text_or_null("build_id", hex_digits(module.build_id))
        .hex("bias", module.bias)
        .hex("first", module.first)
        .hex("end", module.end)
        .end();
}

} // namespace vramscope::report
