// report/exporters/event_lines.cpp — a line has its record's fields; alloc and free have more.
#include "report/exporters/event_lines.hpp"

#include <algorithm>

#include "report/words/cuda_results.hpp"

namespace vramscope::report {

using format::Memory;
using format::Tag;

namespace {

JsonLine& device(JsonLine& line, std::int64_t ordinal)
{
    return ordinal < 0 ? line.null("device") : line.number("device", ordinal);
}

} // namespace

void EventLines::write(const Record& record)
{
    if (format::names_entry_point(record.tag) || record.tag == Tag::alloc ||
        record.tag == Tag::free)
        definitions_.use_api(record.api);
    if (record.tag == Tag::alloc)
        write_alloc(record);
    else if (record.tag == Tag::free)
        write_free(record);
    else
        format::Records::of_tag(record.tag, [&]<typename R>() { write_fields<R>(record); });
}

JsonLine EventLines::begin(const Record& record, std::string_view type)
{
    JsonLine line(out_, type);
    line.number("ns", clock_.ns(record.ticks)).number("thread", record.thread);
    return line;
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

// What the fields name is defined before the line.
template <typename R>
void EventLines::write_fields(const Record& record)
{
    const std::optional<R> fields = record.as<R>();
    if (!fields) {
        malformed_ += !format::is_definition(R::kLayout.head);
        return;
    }
    format::for_each_field(*fields,
                           [&](std::string_view, const auto& field) { use(field, record.ticks); });
    if constexpr (std::is_same_v<R, format::Pool>)
        pools_.define(*fields);
    JsonLine line = R::kLayout.head == format::Head::definition ? JsonLine(out_, R::kLayout.name)
                    : R::kLayout.head == format::Head::call ? begin_call(record, R::kLayout.name)
                                                            : begin(record, R::kLayout.name);
    if constexpr (std::is_same_v<R, format::Reusable>) {
        const std::uint64_t age = std::min<std::uint64_t>(fields->age, record.ticks);
        line.number("freed_before_ns", clock_.ns(record.ticks - age)).flag("own", fields->own);
    } else {
        format::for_each_field(
            *fields, [&](std::string_view key, const auto& field) { add(line, key, field); });
    }
    line.end();
}

template <typename Field>
void EventLines::use(const Field& field, std::uint64_t ticks)
{
    if constexpr (std::is_same_v<Field, format::StackId>)
        definitions_.use_stack(field, ticks);
    else if constexpr (std::is_same_v<Field, format::ApiId>)
        definitions_.use_api(field);
}

template <typename Field>
void EventLines::add(JsonLine& line, std::string_view key, const Field& field) const
{
    if constexpr (std::is_same_v<Field, std::string_view>)
        line.text(key, field);
    else if constexpr (std::is_same_v<Field, bool>)
        line.flag(key, field);
    else if constexpr (std::is_enum_v<Field>)
        line.text(key, name(field));
    else if constexpr (std::is_same_v<Field, format::Address>)
        line.hex(key, field);
    else if constexpr (std::is_same_v<Field, format::DeviceOrdinal>)
        device(line, field);
    else if constexpr (std::is_same_v<Field, format::Ticks>)
        line.number(std::string(key) + "_ns", clock_.span_ns(field));
    else if constexpr (std::is_same_v<Field, format::Result>)
        line.number(key, field.value).text(std::string(key) + "_name", result_name(field));
    else if constexpr (std::is_integral_v<Field>)
        line.number(key, field);
    else if constexpr (!format::kIsList<Field>) // a stack has lines of its own
        line.number(key, field.value);
}

} // namespace vramscope::report
