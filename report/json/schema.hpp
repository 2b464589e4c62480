// report/json/schema.hpp — the JSON Schema of a document, made of its rows' descriptions.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "report/json/write.hpp"
#include "report/model/memory/pool_stats.hpp"

namespace vramscope::report {

template <typename Get>
inline constexpr bool kGroups = false;
template <typename... Get>
inline constexpr bool kGroups<Group<Get...>> = true;

// What a document has to have besides, where a member of it has one value, and where it has not.
inline void add_condition(Json& schema, const std::pair<const char*, const char*>& has,
                          const Json& then, const Json& otherwise)
{
    schema["if"] = {{"properties", {{has.first, {{"const", has.second}}}}}};
    schema["then"] = {{"properties", then}};
    schema["else"] = {{"properties", otherwise}};
}

// Of a text or a number: nothing but these.
inline void set_values(Json& property, Json values)
{
    property.erase("type");
    property["enum"] = std::move(values);
}

class Schema {
public:
    // `with_report`: the document began when the report was at 1.N. Rows that both have say when
    // the report got their members, which is a larger number than the document's own.
    explicit Schema(unsigned with_report = 0) : with_report_(with_report) {}

    // `command`: what writes it. `more`: what is to be known beside what is true of each document.
    template <Described Row>
    Json document(std::string_view command, std::string_view more = {})
    {
        const std::string name = Fields<Row>::kName;
        minor_ = Fields<Row>::kMinorVersion;
        Json required = {"schema_version"};
        Json properties = {
            {"schema_version", {{"type", "string"}, {"pattern", "^1\\.[0-9]+\\.[0-9]+$"}}}};
        add_members<Row>(Fields<Row>::kAll, required, properties);
        return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"$id", fmt::format("https://vramscope.invalid/schema/1/{}.schema.json", name)},
                {"title", "vramscope " + name},
                {"description",
                 fmt::format("What `vramscope {} --json` writes. Within major version 1 members "
                             "are only added, never changed or removed: a reader should ignore "
                             "what it does not know.{}{}",
                             command, more.empty() ? "" : " ", more)},
                {"type", "object"},
                {"required", required},
                {"properties", properties},
                {"$defs", definitions_}};
    }

    // The members of a row, added to those that an object has.
    template <typename Row, typename Tuple>
    void add_members(const Tuple& fields, Json& required, Json& properties)
    {
        for_each_of(fields, [&](const auto& field) {
            using Get = std::remove_cvref_t<decltype(field.get)>;
            if constexpr (!kForPageOnly<Get>) {
                Json property = of_member<Row>(field.get);
                set_bounds(property, field.bounds);
                const bool later = is_later(field.added);
                if (!field.says.empty() || later)
                    property["description"] = words_of(field.says, later ? field.added : 0);
                properties[std::string(field.name)] = std::move(property);
                if (!later && !kIsPresent<ValueOf<Get, Row>>)
                    required.push_back(std::string(field.name));
            }
        });
    }

    template <typename Value>
    Json of()
    {
        if constexpr (Described<Value>)
            return reference<Value>();
        else if constexpr (Meaningful<Value>)
            return of_meaning<Value>();
        else if constexpr (kIsPresent<Value>)
            return of_present<std::remove_cvref_t<decltype(*std::declval<Value>().value)>>();
        else if constexpr (kIsKeyed<Value>)
            return of_keys<decltype(Value::pairs)>();
        else if constexpr (std::is_enum_v<Value>)
            return of_words<Value>();
        else if constexpr (std::same_as<Value, HexNumber>)
            return {{"type", "string"}, {"pattern", "^0x[0-9a-f]+$"}};
        else if constexpr (std::same_as<Value, RawBytes>)
            return {{"type", {"string", "null"}}};
        else if constexpr (std::same_as<Value, Notices>)
            return {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}};
        else if constexpr (std::same_as<Value, CudaResult> ||
                           std::same_as<Value, std::filesystem::path> ||
                           std::is_convertible_v<const Value&, std::string_view>)
            return {{"type", "string"}};
        else if constexpr (requires(Value value) { value.has_value(); } || std::is_pointer_v<Value>)
            return or_null(of<std::remove_cvref_t<decltype(*std::declval<Value>())>>());
        else
            return of_plain<Value>();
    }

    // What references name.
    const Json& definitions() const { return definitions_; }

private:
    template <typename Row, typename Tuple>
    Json object_of(const Tuple& fields)
    {
        Json required = Json::array();
        Json properties = Json::object();
        add_members<Row>(fields, required, properties);
        return {{"type", "object"}, {"required", required}, {"properties", properties}};
    }

    template <typename Row, typename Get>
    Json of_member(const Get& get)
    {
        if constexpr (kGroups<Get>)
            return object_of<Row>(get.fields);
        else if constexpr (requires { requires kGroups<decltype(get.get)>; })
            return kIsPresent<ValueOf<Get, Row>> ? of_member<Row>(get.get)
                                                 : or_null(of_member<Row>(get.get));
        else
            return of<ValueOf<Get, Row>>();
    }

    template <typename Value>
    Json of_plain()
    {
        if constexpr (std::same_as<Value, bool>)
            return {{"type", "boolean"}};
        else if constexpr (std::is_unsigned_v<Value>)
            return {{"type", "integer"}, {"minimum", 0}};
        else if constexpr (std::is_integral_v<Value>)
            return {{"type", "integer"}};
        else if constexpr (std::is_floating_point_v<Value> ||
                           requires { std::variant_size<Value>::value; })
            return {{"type", "number"}};
        else
            return {{"type", "array"}, {"items", of<typename Value::value_type>()}};
    }

    // What is left out where it is false is true where it is.
    template <typename Value>
    Json of_present()
    {
        if constexpr (std::same_as<Value, bool>)
            return {{"const", true}};
        else
            return of<Value>();
    }

    template <typename Pairs>
    Json of_keys()
    {
        using Key = std::remove_cvref_t<decltype(std::declval<Pairs>().begin()->first)>;
        using Value = std::remove_cvref_t<decltype(std::declval<Pairs>().begin()->second)>;
        if constexpr (std::same_as<Pairs, NamedCounts>) {
            Json required = Json::array();
            Json properties = Json::object();
            for (const auto& [key, count] : PoolStats{}.named()) {
                required.push_back(key);
                properties[key] = of<Value>();
            }
            return {{"type", "object"}, {"required", required}, {"properties", properties}};
        } else {
            Json object = {{"type", "object"}, {"additionalProperties", of<Value>()}};
            if constexpr (std::is_enum_v<Key>)
                object["propertyNames"] = of<Key>();
            return object;
        }
    }

    template <typename Enum>
    Json of_words()
    {
        Json words = Json::array();
        for (const auto& row : Words<Enum>::kAll)
            words.push_back(row.word ? Json(row.word) : Json(nullptr));
        if constexpr (requires { Words<Enum>::kOtherwise; }) { // a log may hold any number
            const Json otherwise = Words<Enum>::kOtherwise;
            if (std::find(words.begin(), words.end(), otherwise) == words.end())
                words.push_back(otherwise);
        }
        if constexpr (requires { Words<Enum>::kName; }) {
            Json& definition = definitions_[Words<Enum>::kName] = {{"enum", words}};
            if constexpr (requires { Words<Enum>::kSays; })
                definition["description"] = Words<Enum>::kSays;
            return {{"$ref", std::string("#/$defs/") + Words<Enum>::kName}};
        } else {
            return {{"enum", words}};
        }
    }

    template <typename Value>
    Json of_meaning()
    {
        using Known = Meaning<Value>;
        Json shown = of<decltype(Known::as(Value{}))>();
        shown["description"] = Known::kSays;
        definitions_[Known::kName] = std::move(shown);
        return {{"$ref", std::string("#/$defs/") + Known::kName}};
    }

    template <typename Row>
    Json reference()
    {
        const std::string name = Fields<Row>::kName;
        if (!definitions_.contains(name)) {
            definitions_[name] = nullptr; // its place in the order
            Json object = object_of<Row>(Fields<Row>::kAll);
            if constexpr (requires { Fields<Row>::kSays; })
                object["description"] = Fields<Row>::kSays;
            definitions_[name] = std::move(object);
        }
        return {{"$ref", "#/$defs/" + name}};
    }

    bool is_later(unsigned added) const
    {
        const bool by_the_report = added > minor_;
        return added > 0 && !(by_the_report && added <= with_report_);
    }

    std::string words_of(std::string_view says, unsigned added) const
    {
        std::string words(says);
        if (added > 0 && added <= minor_)
            words += fmt::format("{}Since 1.{}.", words.empty() ? "" : " ", added);
        return words;
    }

    static Json or_null(Json schema)
    {
        if (schema.contains("enum"))
            schema["enum"].push_back(nullptr);
        else if (schema.contains("type") && schema["type"].is_string())
            schema["type"] = {schema["type"], "null"};
        else if (!schema.contains("type"))
            schema = {{"anyOf", {schema, {{"type", "null"}}}}};
        return schema;
    }

    static void set_bounds(Json& property, const Bounds& bounds)
    {
        if (bounds.least)
            property["minimum"] = *bounds.least;
        if (bounds.most)
            property["maximum"] = *bounds.most;
        const bool is_list = property.contains("items");
        if (bounds.fewest > 0)
            property[is_list ? "minItems" : "minLength"] = bounds.fewest;
        if (bounds.most_rows > 0)
            property["maxItems"] = bounds.most_rows;
        if (bounds.unique)
            property["uniqueItems"] = true;
        if (bounds.lines)
            property["items"]["minLength"] = 1;
        if (!bounds.pattern.empty())
            property["pattern"] = std::string(bounds.pattern);
        if (property.contains("enum"))
            std::erase_if(property["enum"].get_ref<Json::array_t&>(), [&](const Json& word) {
                return word.is_string() &&
                       std::find(bounds.never.begin(), bounds.never.end(),
                                 word.get_ref<const std::string&>()) != bounds.never.end();
            });
    }

    unsigned with_report_;
    unsigned minor_ = 0;
    Json definitions_ = Json::object();
};

} // namespace vramscope::report
