// report/json/write.hpp — a row as JSON, by its description: the one function that makes it.
//
// A file that includes this takes seconds to compile: there is one for each kind of document.
#pragma once

#include <concepts>
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
#include "report/words/file_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

using Json = nlohmann::ordered_json;

template <typename Value>
inline constexpr bool kIsGroup = false;
template <typename Row, typename Tuple>
inline constexpr bool kIsGroup<Grouped<Row, Tuple>> = true;

template <typename Value>
Json to_json(const Value& value, Audience audience);

template <typename Key>
std::string key_text(const Key& key)
{
    if constexpr (std::is_enum_v<Key>)
        return name(key);
    else
        return std::string(key);
}

// The members of a row, added to those that the object has.
template <typename Row, typename Tuple>
void add_members(Json& json, const Row& row, const Tuple& fields, Audience audience)
{
    for_each_of(fields, [&](const auto& field) {
        if (kForPageOnly<std::remove_cvref_t<decltype(field.get)>> && audience != Audience::page)
            return;
        const auto& member = std::invoke(field.get, row);
        if constexpr (!kIsPresent<std::remove_cvref_t<decltype(member)>>)
            json[std::string(field.name)] = to_json(member, audience);
        else if (member.value)
            json[std::string(field.name)] = to_json(*member.value, audience);
    });
}

template <typename Value>
Json to_json(const Value& value, Audience audience)
{
    if constexpr (Described<Value>) {
        Json json = Json::object();
        add_members(json, value, Fields<Value>::kAll, audience);
        return json;
    } else if constexpr (kIsGroup<Value>) {
        Json json = Json::object();
        add_members(json, *value.row, *value.fields, audience);
        return json;
    } else if constexpr (kIsKeyed<Value>) {
        Json json = Json::object();
        for (const auto& [key, one] : value.pairs)
            json[key_text(key)] = to_json(one, audience);
        return json;
    } else if constexpr (std::is_enum_v<Value>) {
        const char* const word = name(value);
        return word ? Json(word) : Json(nullptr);
    } else if constexpr (std::same_as<Value, HexNumber>) {
        return fmt::format("{:#x}", value.value);
    } else if constexpr (std::same_as<Value, RawBytes>) {
        return value.bytes.empty() ? Json(nullptr) : Json(hex_digits(value.bytes));
    } else if constexpr (std::same_as<Value, CudaResult>) {
        return result_name(value.number);
    } else if constexpr (std::same_as<Value, Notices>) {
        Json lines = *value.lines;
        for (const UnreadFile& file : *value.files)
            lines.push_back(notice_of(file));
        return lines;
    } else if constexpr (std::same_as<Value, std::filesystem::path>) {
        return value.string();
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        return std::string(std::string_view(value));
    } else if constexpr (requires { value.has_value(); } || std::is_pointer_v<Value>) {
        return value ? to_json(*value, audience) : Json(nullptr); // known, or not
    } else if constexpr (requires { std::variant_size<Value>::value; }) {
        return std::visit([](const auto& number) { return Json(number); }, value);
    } else if constexpr (requires { value.begin(); }) {
        Json list = Json::array();
        for (const auto& one : value)
            list.push_back(to_json(one, audience));
        return list;
    } else {
        return value;
    }
}

// A document: its version, and the members of its row.
template <Described Row>
Json document_of(const Row& row, Audience audience)
{
    Json document = {{"schema_version", fmt::format("1.{}.0", Fields<Row>::kMinorVersion)}};
    add_members(document, row, Fields<Row>::kAll, audience);
    return document;
}

} // namespace vramscope::report
