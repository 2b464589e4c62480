// report/exporters/event_lines.cpp — the fields of each record, in the order of its body.
#include "report/exporters/event_lines.hpp"

#include <algorithm>

#include "report/findings/damage.hpp"
#include "report/findings/leaks.hpp"
#include "report/words/cuda_results.hpp"

namespace vramscope::report {

using format::Memory;
using format::Tag;

namespace {

const char* end_word(format::SegmentEnd end) noexcept
{
    switch (end) {
    case format::SegmentEnd::freed:
        return "freed";
    case format::SegmentEnd::surplus:
        return "surplus";
    case format::SegmentEnd::collected:
        return "collected";
    case format::SegmentEnd::pressure:
        return "pressure";
    case format::SegmentEnd::asked:
        return "asked";
    }
    return "other";
}

JsonLine& device(JsonLine& line, std::int64_t ordinal)
{
    return ordinal < 0 ? line.null("device") : line.number("device", ordinal);
}

} // namespace

void EventLines::write(const Record& record)
{
    body_ = record.body;
    if (names_entry_point(record.tag) || record.tag == Tag::alloc || record.tag == Tag::free)
        definitions_.use_api(record.api);
    line_begin_ = out_.size();
    switch (record.tag) {
    case Tag::alloc:
        return write_alloc(record);
    case Tag::free:
        return write_free(record);
    case Tag::failed:
        write_failed(record);
        break;
    case Tag::map:
        write_map(record);
        break;
    case Tag::shared:
        write_shared(record);
        break;
    case Tag::trim:
        write_trim(record);
        break;
    case Tag::segment:
        write_segment(record);
        break;
    case Tag::reusable:
        write_reusable(record);
        break;
    case Tag::retried:
        write_retried(record);
        break;
    case Tag::out_of_memory:
        write_out_of_memory(record);
        break;
    case Tag::damaged:
        write_damaged(record);
        break;
    case Tag::pool:
        write_pool();
        break;
    case Tag::device_memory:
        write_device_memory(record);
        break;
    case Tag::driver_time:
        write_driver_time(record);
        break;
    default:
        write_small(record);
    }
    if (body_.ok())
        return;
    out_.resize(line_begin_);
    ++malformed_;
}

JsonLine EventLines::begin(const Record& record, std::string_view type)
{
    line_begin_ = out_.size();
    JsonLine line(out_, type);
    line.number("ns", clock_.ns(record.ticks)).number("thread", record.thread);
    return line;
}

// Its definition goes before the line that names it.
std::uint64_t EventLines::read_stack(const Record& record)
{
    const std::uint64_t stack = body_.varint();
    definitions_.use_stack(stack, record.ticks);
    return stack;
}

JsonLine EventLines::begin_call(const Record& record, std::string_view type)
{
    JsonLine line = begin(record, type);
    line.number("api", record.api);
    return line;
}

Memory EventLines::memory_of(const Record& record) const
{
    if (record.api >= tables_.apis().size())
        return Memory::none;
    const Memory memory = tables_.apis()[record.api].memory;
    if (memory != Memory::async)
        return memory;
    return record.place.capturing ? Memory::graph : pools_.memory(record.place.pool);
}

void EventLines::write_alloc(const Record& record)
{
    const format::Place& place = record.place;
    definitions_.use_stack(record.stack, record.ticks);
    JsonLine line = begin_call(record, "alloc");
    line.hex("address", record.address).number("bytes", record.bytes);
    line.text("memory", name(memory_of(record)));
    device(line, place.device).number("context", place.context).hex("stream", place.stream);
    line.hex("pool", place.pool).flag("pooled", record.pooled);
    line.number("slack", record.pooled ? record.slack : 0).number("stack", record.stack).end();
}

void EventLines::write_free(const Record& record)
{
    if (memory_of(record) == Memory::pool)
        pools_.destroy(record.address);
    definitions_.use_stack(record.stack, record.ticks);
    begin_call(record, "free").hex("address", record.address).number("stack", record.stack).end();
}

void EventLines::write_failed(const Record& record)
{
    const std::uint64_t result = body_.varint();
    const std::uint64_t address = body_.varint();
    const std::uint64_t bytes = body_.varint();
    const std::uint64_t stack = read_stack(record);
    JsonLine line = begin_call(record, "failed");
    line.number("result", result).text("result_name", result_name(result));
    line.hex("address", address).number("bytes", bytes).number("stack", stack).end();
}

void EventLines::write_map(const Record& record)
{
    const std::uint64_t address = body_.varint();
    const std::uint64_t bytes = body_.varint();
    const std::uint64_t handle = body_.varint();
    const std::uint64_t stack = read_stack(record);
    JsonLine line = begin_call(record, "map");
    line.hex("address", address).number("bytes", bytes).hex("handle", handle);
    line.number("stack", stack).end();
}

void EventLines::write_shared(const Record& record)
{
    const std::uint64_t address = body_.varint();
    const std::uint64_t stack = read_stack(record);
    begin_call(record, "shared").hex("address", address).number("stack", stack).end();
}

void EventLines::write_trim(const Record& record)
{
    const std::uint64_t pool = body_.varint();
    const std::uint64_t keep_bytes = body_.varint();
    const std::uint64_t stack = read_stack(record);
    JsonLine line = begin_call(record, "trim");
    line.hex("pool", pool).number("keep_bytes", keep_bytes).number("stack", stack).end();
}

void EventLines::write_segment(const Record& record)
{
    JsonLine line = begin(record, "segment");
    line.hex("address", body_.varint());
    line.number("bytes", body_.varint());
    line.number("context", body_.varint());
    device(line, body_.signed_varint()).end();
}

void EventLines::write_reusable(const Record& record)
{
    const std::uint64_t age = body_.varint();
    const bool own = body_.varint() != 0;
    JsonLine line = begin(record, "reusable");
    line.number("freed_before_ns", clock_.ns(record.ticks - std::min(age, record.ticks)));
    line.flag("own", own).end();
}

void EventLines::write_retried(const Record& record)
{
    JsonLine line = begin_call(record, "retried");
    device(line, body_.signed_varint());
    line.number("bytes", body_.varint());
    const std::uint64_t result = body_.varint();
    line.number("result", result).text("result_name", result_name(result)).end();
}

void EventLines::write_out_of_memory(const Record& record)
{
    JsonLine line = begin_call(record, "out_of_memory");
    device(line, body_.signed_varint());
    for (const char* const key :
         {"requested", "free", "total", "allocated", "reserved", "largest_gap"})
        line.number(key, body_.varint());
    line.end();
}

void EventLines::write_damaged(const Record& record)
{
    const auto kind = static_cast<format::Damage>(body_.varint());
    const std::uint64_t address = body_.varint();
    const std::int64_t offset = body_.signed_varint();
    const std::uint64_t bytes = body_.varint();
    const std::uint64_t stack = read_stack(record);
    JsonLine line = begin(record, "damaged");
    line.text("kind", name(kind)).hex("address", address).number("offset", offset);
    line.number("bytes", bytes).number("stack", stack).end();
}

void EventLines::write_device_memory(const Record& record)
{
    JsonLine line = begin(record, "device_memory");
    device(line, body_.signed_varint());
    line.number("free", body_.varint());
    line.number("total", body_.varint()).end();
}

void EventLines::write_driver_time(const Record& record)
{
    const std::uint64_t api = body_.varint();
    definitions_.use_api(api);
    JsonLine line = begin(record, "driver_time");
    line.number("api", api);
    line.number("calls", body_.varint());
    line.number("total_ns", clock_.span_ns(body_.varint()));
    line.number("longest_ns", clock_.span_ns(body_.varint())).end();
}

void EventLines::write_pool()
{
    pools_.define(body_);
    JsonLine line(out_, "pool");
    line.hex("handle", body_.varint());
    line.number("location_type", body_.signed_varint());
    line.number("location", body_.signed_varint());
    line.flag("managed", body_.varint() != 0).end();
}

// Records of one or two fields. What a later minor version added is not written.
void EventLines::write_small(const Record& record)
{
    switch (record.tag) {
    case Tag::range_push:
        return begin(record, "range_push").text("name", body_.prefixed_text()).end();
    case Tag::range_pop:
        return begin(record, "range_pop").end();
    case Tag::mark:
        return begin(record, "mark").text("name", body_.prefixed_text()).end();
    case Tag::context_gone: {
        const std::uint64_t context = body_.varint();
        const std::uint64_t stack = read_stack(record); // logs before 3.2 end here: 0
        JsonLine line = begin_call(record, "context_gone");
        return line.number("context", context).number("stack", stack).end();
    }
    case Tag::retain:
        return begin_call(record, "retain").hex("handle", body_.varint()).end();
    case Tag::unmap: {
        JsonLine line = begin_call(record, "unmap");
        line.hex("address", body_.varint());
        return line.number("bytes", body_.varint()).end();
    }
    case Tag::segment_gone: {
        JsonLine line = begin(record, "segment_gone");
        line.hex("address", body_.varint());
        return line.text("end", end_word(static_cast<format::SegmentEnd>(body_.varint()))).end();
    }
    default:
        return;
    }
}

} // namespace vramscope::report
