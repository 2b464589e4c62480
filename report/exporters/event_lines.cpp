// report/exporters/event_lines.cpp — a line has its record's fields; alloc and free have more.
#include "report/exporters/event_lines.hpp"

#include <algorithm>

#include "report/exporters/event_records.hpp"

namespace vramscope::report {

using format::Memory;
using format::Tag;

void EventLines::write(const Record& record)
{
    if (format::names_entry_point(record.tag) || record.tag == Tag::alloc ||
        record.tag == Tag::free)
        definitions_.use_api(record.api);
    if (record.tag == Tag::alloc)
        write_alloc(record);
    else if (record.tag == Tag::free)
        write_free(record);
    else if (record.tag == Tag::reusable)
        write_reusable(record);
    else
        format::Records::of_tag(record.tag, [&]<typename R>() {
            if constexpr (kHasLine<R>)
                write_fields<R>(record);
        });
}

Called EventLines::called(const Record& record) const
{
    return {{{clock_.ns(record.ticks)}, record.thread}, record.api};
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
    write_line(out_, AllocLine{called(record), record.address, record.bytes, memory_of(record),
                               place.device, place.context, place.stream, place.pool, record.pooled,
                               record.pooled ? record.slack : 0, record.stack});
}

void EventLines::write_free(const Record& record)
{
    if (memory_of(record) == Memory::pool)
        pools_.destroy(record.address);
    definitions_.use_stack(record.stack, record.ticks);
    write_line(out_, FreeLine{called(record), record.address, record.stack});
}

void EventLines::write_reusable(const Record& record)
{
    const auto fields = fields_of<format::Reusable>(record);
    if (!fields)
        return;
    const std::uint64_t age = std::min<std::uint64_t>(fields->age, record.ticks);
    write_line(out_, ReusableLine{called(record), {clock_.ns(record.ticks - age)}, fields->own});
}

template <typename R>
std::optional<R> EventLines::fields_of(const Record& record)
{
    std::optional<R> fields = record.as<R>();
    if (!fields)
        malformed_ += !format::is_definition(R::kLayout.head);
    return fields;
}

// What the fields name is defined before the line.
template <typename R>
void EventLines::write_fields(const Record& record)
{
    const std::optional<R> fields = fields_of<R>(record);
    if (!fields)
        return;
    format::for_each_field(*fields,
                           [&](std::string_view, const auto& field) { use(field, record.ticks); });
    if constexpr (std::is_same_v<R, format::Pool>)
        pools_.define(*fields);
    JsonLine line(out_, R::kLayout.name);
    add_members(line, called(record), head_fields<R>());
    format::for_each_field(*fields, [&](std::string_view name, const auto& field) {
        for_each_member(
            name, field, [&](std::uint64_t ticks) { return clock_.span_ns(ticks); },
            [&](std::string_view key, const auto& value) { add(line, key, value); });
    });
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

} // namespace vramscope::report
