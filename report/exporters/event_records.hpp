// report/exporters/event_records.hpp — a record as a JSON line: which have one, and its members.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "report/exporters/event_rows.hpp"

namespace vramscope::report {

// All lines that have a row.
template <typename... Each>
struct LineList {
    template <typename Visit>
    static void for_each(Visit&& visit)
    {
        (visit.template operator()<Each>(), ...);
    }
    static constexpr bool has(std::string_view type)
    {
        return ((Fields<Each>::kName == type) || ...);
    }
};
using LineRows = LineList<HeaderLine, ApiLine, StackLine, ThreadLine, ModuleLine, AllocLine,
                          FreeLine, ReusableLine, TrailerLine>;

// What a record says is inside of other lines: in the header, or in those of stacks.
template <typename R>
inline constexpr bool kIsInside =
    std::same_as<R, format::Info> || std::same_as<R, format::PythonCode> ||
    std::same_as<R, format::PythonStack> || std::same_as<R, format::FrameName>;

// Whether a record has a line with its fields.
template <typename R>
inline constexpr bool kHasLine = !kIsInside<R> && !LineRows::has(R::kLayout.name);

// What stands before its fields there.
template <typename R>
constexpr auto head_fields()
{
    if constexpr (R::kLayout.head == format::Head::definition)
        return FieldList{};
    else if constexpr (R::kLayout.head == format::Head::call)
        return kCalled;
    else
        return kHappened;
}

// visit(name, value) for each member of a line that a field of a record becomes. `span_ns` makes
// nanoseconds of ticks.
template <typename Value, typename SpanNs, typename Visit>
void for_each_member(std::string_view name, const Value& field, SpanNs&& span_ns, Visit&& visit)
{
    if constexpr (std::same_as<Value, format::Ticks>) {
        visit(std::string(name) + "_ns", span_ns(field));
    } else if constexpr (std::same_as<Value, format::Result>) {
        visit(name, field.value);
        visit(std::string(name) + "_name", CudaResult{field});
    } else {
        visit(name, field);
    }
}

} // namespace vramscope::report
