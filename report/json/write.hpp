// report/json/write.hpp — a row as JSON, by its description: the one function that makes it.
//
// A file that writes a document takes seconds to compile: there is one for each kind.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/model/fields.hpp"
#include "report/model/unread_file.hpp"
#include "report/words/cuda_results.hpp"

namespace vramscope::report {

using Json = nlohmann::ordered_json;

template <typename Value>
inline constexpr bool kIsGroup = false;
template <typename Row, typename List>
inline constexpr bool kIsGroup<Grouped<Row, List>> = true;

template <typename Value>
void write(Json& to, const Value& value, Audience audience);

// What all rows share is compiled once, not once for each of four hundred members: a member of an
// object, which is null as yet; a row of a list; and values without parts.
Json& member_of(Json& object, std::string_view name);
Json& row_of(Json& list);
void write_text(Json& to, std::string_view text);
void write_hex(Json& to, std::uint64_t number);
void write_hex_digits(Json& to, std::string_view bytes); // null: there are none
void write_flag(Json& to, bool value);
void write_count(Json& to, std::uint64_t value);
void write_integer(Json& to, std::int64_t value);
void write_number(Json& to, double value);
void write_notices(Json& to, const Notices& notices);

template <typename Key>
std::string key_text(const Key& key)
{
    if constexpr (std::is_enum_v<Key>)
        return name(key);
    else
        return std::string(key);
}

// The members of a row, added to those that the object has.
template <typename Row, typename List>
void add_members(Json& json, const Row& row, const List& fields, Audience audience)
{
    fields.for_each([&](const auto& field) {
        using Get = std::remove_cvref_t<decltype(field.get)>;
        if ((kForPageOnly<Get> && audience != Audience::page) ||
            (kOnRequest<Get> && audience != Audience::whole_file))
            return;
        const auto& member = std::invoke(field.get, row);
        if constexpr (!kIsPresent<std::remove_cvref_t<decltype(member)>>)
            write(member_of(json, field.name), member, audience);
        else if (member.value)
            write(member_of(json, field.name), *member.value, audience);
    });
}

template <typename Value>
void write(Json& to, const Value& value, Audience audience)
{
    if constexpr (Described<Value>) {
        to = Json::object();
        add_members(to, value, Fields<Value>::kAll, audience);
    } else if constexpr (kIsGroup<Value>) {
        to = Json::object();
        add_members(to, *value.row, *value.fields, audience);
    } else if constexpr (kIsKeyed<Value>) {
        to = Json::object();
        for (const auto& [key, one] : value.pairs)
            write(member_of(to, key_text(key)), one, audience);
    } else if constexpr (std::is_enum_v<Value>) {
        if (const char* const word = name(value)) // else null
            write_text(to, word);
    } else if constexpr (std::same_as<Value, bool>) {
        write_flag(to, value);
    } else if constexpr (std::unsigned_integral<Value>) {
        write_count(to, value);
    } else if constexpr (std::integral<Value>) {
        write_integer(to, value);
    } else if constexpr (std::floating_point<Value>) {
        write_number(to, value);
    } else if constexpr (std::same_as<Value, HexNumber>) {
        write_hex(to, value.value);
    } else if constexpr (std::same_as<Value, RawBytes>) {
        write_hex_digits(to, value.bytes);
    } else if constexpr (std::same_as<Value, CudaResult>) {
        write_text(to, result_name(value.number));
    } else if constexpr (std::same_as<Value, Notices>) {
        write_notices(to, value);
    } else if constexpr (std::same_as<Value, std::filesystem::path>) {
        write_text(to, value.native());
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        write_text(to, value);
    } else if constexpr (requires { value.has_value(); } || std::is_pointer_v<Value>) {
        if (value) // known; else null
            write(to, *value, audience);
    } else if constexpr (requires { std::variant_size<Value>::value; }) {
        std::visit([&](const auto& number) { write(to, number, audience); }, value);
    } else {
        to = Json::array();
        for (const auto& one : value)
            write(row_of(to), one, audience);
    }
}

// A document: its version, and the members of its row.
template <Described Row>
Json document_of(const Row& row, Audience audience)
{
    Json document = Json::object();
    write_text(member_of(document, "schema_version"),
               fmt::format("1.{}.0", Fields<Row>::kMinorVersion));
    add_members(document, row, Fields<Row>::kAll, audience);
    return document;
}

} // namespace vramscope::report
