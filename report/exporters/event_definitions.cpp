// report/exporters/event_definitions.cpp — see event_definitions.hpp.
#include "report/exporters/event_definitions.hpp"

#include <utility>

#include "report/exporters/json_line.hpp"
#include "report/findings/leaks.hpp"
#include "report/findings/places/frames.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

using format::Cursor;
using format::Tag;

namespace {

constexpr std::uint32_t kNoThread = UINT32_MAX;
constexpr std::size_t kMostThreads = 1 << 20; // indexes beyond are written each time

const char* effect_word(format::Effect effect) noexcept
{
    switch (effect) {
    case format::Effect::alloc:
        return "allocates";
    case format::Effect::free:
        return "frees";
    case format::Effect::none:
        break;
    }
    return "other";
}

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
        .text("effect", effect_word(api.effect))
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
    line.flag("inlined", frame.inlined).flag("library", frame.library).close();
}

bool EventDefinitions::write(const Record& record)
{
    switch (record.tag) {
    case Tag::info:  // in the header
    case Tag::api:   // when it is used
    case Tag::stack: // likewise
        return true;
    case Tag::thread:
        write_thread(record);
        return true;
    case Tag::module_loaded:
        write_module(record);
        return true;
    case Tag::module_gone:
        write_module_gone(record);
        return true;
    case Tag::context:
        write_context(record.body);
        return true;
    case Tag::device:
        write_device(record.body);
        return true;
    default:
        return false;
    }
}

// Every chunk begins with its thread: most say nothing new.
void EventDefinitions::write_thread(const Record& record)
{
    Cursor in = record.body;
    const auto tid = static_cast<std::uint32_t>(in.varint());
    const std::string_view name = in.prefixed_text();
    if (!in.ok())
        return;
    if (record.thread < kMostThreads) {
        if (record.thread >= thread_ids_.size())
            thread_ids_.resize(record.thread + 1, kNoThread);
        if (std::exchange(thread_ids_[record.thread], tid) == tid)
            return;
    }
    JsonLine(out_, "thread")
        .number("id", record.thread)
        .number("tid", tid)
        .text_or_null("name", name)
        .end();
}

void EventDefinitions::write_module(const Record& record)
{
    Cursor in = record.body;
    const std::uint64_t id = in.varint();
    const std::uint64_t bias = in.varint();
    const std::uint64_t first = in.varint();
    const std::uint64_t end = in.varint();
    const std::string_view build_id = in.prefixed_text();
    const std::string_view path = in.prefixed_text();
    if (!in.ok())
        return;
    JsonLine(out_, "module_loaded")
        .number("ns", clock_.ns(record.ticks))
        .number("thread", record.thread)
        .number("module", id)
        .text("path", path)
        .text_or_null("build_id", hex_digits(build_id))
        .hex("bias", bias)
        .hex("first", first)
        .hex("end", end)
        .end();
}

void EventDefinitions::write_module_gone(const Record& record)
{
    Cursor in = record.body;
    const std::uint64_t id = in.varint();
    if (in.ok())
        JsonLine(out_, "module_gone")
            .number("ns", clock_.ns(record.ticks))
            .number("thread", record.thread)
            .number("module", id)
            .end();
}

void EventDefinitions::write_context(Cursor in)
{
    const std::uint64_t id = in.varint();
    const std::uint64_t handle = in.varint();
    const std::int64_t device = in.signed_varint();
    const bool primary = in.varint() != 0;
    if (!in.ok())
        return;
    JsonLine line(out_, "context");
    line.number("id", id).hex("handle", handle);
    if (device < 0)
        line.null("device");
    else
        line.number("device", device);
    line.flag("primary", primary).end();
}

void EventDefinitions::write_device(Cursor in)
{
    const std::uint64_t ordinal = in.varint();
    const std::uint64_t bytes = in.varint();
    const std::string_view name = in.prefixed_text();
    if (in.ok())
        JsonLine(out_, "device")
            .number("ordinal", ordinal)
            .number("bytes", bytes)
            .text("name", name)
            .end();
}

} // namespace vramscope::report
