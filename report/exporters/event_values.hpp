// report/exporters/event_values.hpp — rows as JSON lines, by their descriptions.
//
// What json/write.hpp does for documents in memory, for lists as long as a log: each value is
// written by its type.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "report/exporters/json_line.hpp"
#include "report/model/fields.hpp"
#include "report/words/cuda_results.hpp"
#include "report/words/words.hpp"
#include "tracker/format/fields.hpp"

namespace vramscope::report {

struct Ns {
    std::uint64_t value;
};
template <>
struct Meaning<Ns> {
    static constexpr const char* kName = "ns";
    static constexpr const char* kSays = "Nanoseconds since the log was opened.";
    static std::uint64_t as(Ns ns) { return ns.value; }
};
template <>
struct Meaning<format::Address> {
    static constexpr const char* kName = "address";
    static constexpr const char* kSays = "An address or a handle.";
    static HexNumber as(format::Address address) { return {address}; }
};
template <>
struct Meaning<format::StackId> {
    static constexpr const char* kName = "stack_id";
    static constexpr const char* kSays = "Of a stack line before this one; 0: not captured.";
    static std::uint64_t as(format::StackId stack) { return stack; }
};
template <>
struct Meaning<format::ApiId> {
    static constexpr const char* kName = "api_id";
    static constexpr const char* kSays = "The entry point: of an api line before this one.";
    static std::uint64_t as(format::ApiId api) { return api; }
};
template <>
struct Meaning<format::DeviceOrdinal> {
    static constexpr const char* kName = "device_number";
    static constexpr const char* kSays = "null: not known.";
    static std::optional<std::uint64_t> as(format::DeviceOrdinal device)
    {
        return device < 0 ? std::nullopt : std::optional<std::uint64_t>(device.value);
    }
};

template <typename Value>
void add(JsonLine& line, std::string_view key, const Value& value);

template <typename Row, typename List>
void add_members(JsonLine& line, const Row& row, const List& fields)
{
    fields.for_each([&](const auto& field) {
        const auto& member = std::invoke(field.get, row);
        if constexpr (!kIsPresent<std::remove_cvref_t<decltype(member)>>)
            add(line, field.name, member);
        else if (member.value)
            add(line, field.name, *member.value);
    });
}

// What is in a list has an empty key.
template <typename Value>
void add(JsonLine& line, std::string_view key, const Value& value)
{
    if constexpr (Meaningful<Value>) {
        add(line, key, Meaning<Value>::as(value));
    } else if constexpr (Described<Value>) {
        line.open_object(key);
        add_members(line, value, Fields<Value>::kAll);
        line.close();
    } else if constexpr (kIsKeyed<Value>) {
        line.open_object(key);
        for (const auto& [word, one] : value.pairs)
            add(line, word, one);
        line.close();
    } else if constexpr (std::is_enum_v<Value>) {
        line.text(key, name(value));
    } else if constexpr (std::same_as<Value, bool>) {
        line.flag(key, value);
    } else if constexpr (std::integral<Value>) {
        line.number(key, value);
    } else if constexpr (std::same_as<Value, HexNumber>) {
        line.hex(key, value.value);
    } else if constexpr (std::same_as<Value, RawBytes>) {
        line.text_or_null(key, hex_digits(value.bytes));
    } else if constexpr (std::same_as<Value, CudaResult>) {
        line.text(key, result_name(value.number));
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        line.text(key, value);
    } else if constexpr (requires { value.has_value(); } || std::is_pointer_v<Value>) {
        value ? add(line, key, *value) : static_cast<void>(line.null(key));
    } else {
        line.open_array(key);
        for (const auto& one : value)
            add(line, {}, one);
        line.close();
    }
}

template <Described Row>
void write_line(std::string& out, const Row& row)
{
    JsonLine line(out, Fields<Row>::kName);
    add_members(line, row, Fields<Row>::kAll);
    line.end();
}

} // namespace vramscope::report
