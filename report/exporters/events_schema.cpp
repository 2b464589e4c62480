// report/exporters/events_schema.cpp — the schema of events, made of the rows and records that are
// written.
#include <algorithm>
#include <string>
#include <utility>

#include "report/exporters/event_rows.hpp"
#include "report/exporters/exporters.hpp"
#include "report/json/write.hpp"

namespace vramscope::report {
namespace {

Json shared(const std::string& name)
{
    return {{"$ref", "#/$defs/" + name}};
}

template <typename Enum>
Json words_of()
{
    Json words = Json::array();
    for (const auto& row : Words<Enum>::kAll)
        words.push_back(row.word);
    if constexpr (format::Worded<Enum>) { // a log may hold any number
        const Json otherwise = Words<Enum>::kOtherwise;
        if (std::find(words.begin(), words.end(), otherwise) == words.end())
            words.push_back(otherwise);
    }
    return words;
}

// What several members are, under $defs.
Json shared_definitions()
{
    const Json count = {{"type", "integer"}, {"minimum", 0}};
    const auto counted = [&](const char* says, Json value) {
        value["description"] = says;
        return value;
    };
    return {{"count", count},
            {"ns", counted("Nanoseconds since the log was opened.", count)},
            {"address", counted("An address or a handle.",
                                {{"type", "string"}, {"pattern", "^0x[0-9a-f]+$"}})},
            {"device_number",
             counted("null: not known.", {{"type", {"integer", "null"}}, {"minimum", 0}})},
            {"stack_id", counted("Of a stack line before this one; 0: not captured.", count)},
            {"memory", {{"enum", words_of<format::Memory>()}}}};
}

Json or_null(Json value)
{
    if (value.contains("$ref"))
        return {{"anyOf", {value, {{"type", "null"}}}}};
    value["type"] = {value["type"], "null"};
    return value;
}

template <Described Row>
Json object_of();

// What a member is, by the type of its value.
template <typename Value>
Json type_of()
{
    if constexpr (std::is_same_v<Value, Ns>)
        return shared("ns");
    else if constexpr (std::is_same_v<Value, HexNumber> || std::is_same_v<Value, format::Address>)
        return shared("address");
    else if constexpr (std::is_same_v<Value, format::StackId>)
        return shared("stack_id");
    else if constexpr (std::is_same_v<Value, format::DeviceOrdinal>)
        return shared("device_number");
    else if constexpr (std::is_same_v<Value, format::Memory>)
        return shared("memory");
    else if constexpr (std::is_enum_v<Value>)
        return {{"enum", words_of<Value>()}};
    else if constexpr (std::is_same_v<Value, bool>)
        return {{"type", "boolean"}};
    else if constexpr (std::signed_integral<Value>)
        return {{"type", "integer"}};
    else if constexpr (std::integral<Value> || std::is_same_v<Value, format::ApiId>)
        return shared("count");
    else if constexpr (std::is_same_v<Value, RawBytes>)
        return {{"type", {"string", "null"}}, {"pattern", "^[0-9a-f]+$"}};
    else if constexpr (std::is_same_v<Value, CudaResult> ||
                       std::is_convertible_v<const Value&, std::string_view>)
        return {{"type", "string"}};
    else if constexpr (std::is_pointer_v<Value>)
        return or_null(type_of<std::remove_const_t<std::remove_pointer_t<Value>>>());
    else if constexpr (requires(Value value) { value.has_value(); })
        return or_null(type_of<typename Value::value_type>());
    else if constexpr (kIsKeyed<Value>)
        return {{"type", "object"}, {"additionalProperties", shared("count")}};
    else if constexpr (Described<Value>)
        return object_of<Value>();
    else
        return {{"type", "array"}, {"items", type_of<typename Value::value_type>()}};
}

class Members {
public:
    template <typename Value>
    void add(std::string_view name, std::string_view says = {}, const Bounds& bounds = {})
    {
        Json value = type_of<Value>();
        if (std::is_same_v<Value, format::ApiId>)
            value["description"] = std::string(says.empty() ? "The entry point" : says) +
                                   ": of an api line before this one.";
        else if (!says.empty())
            value["description"] = says;
        if (bounds.least) {
            value.erase("$ref"); // which has another bound
            value.emplace("type", "integer");
            value["minimum"] = *bounds.least;
        }
        if (!bounds.pattern.empty())
            value["pattern"] = bounds.pattern;
        properties_[std::string(name)] = std::move(value);
    }

    template <typename Row, typename Tuple>
    void add_fields(const Tuple& fields)
    {
        for_each_of(fields, [&]<typename Get>(const Field<Get>& field) {
            using Value = ValueOf<Get, Row>;
            if constexpr (kIsPresent<Value>) { // left out where it is false
                properties_[std::string(field.name)] = {{"description", field.says},
                                                        {"const", true}};
            } else {
                add<Value>(field.name, field.says, field.bounds);
                if (field.added == 0)
                    require(field.name);
            }
        });
    }

    // A line's first member, and all of a record's.
    void add_type(std::string_view type)
    {
        properties_["type"] = {{"const", type}};
        require("type");
    }
    void require(std::string_view name) { required_.push_back(name); }

    Json object(std::string_view says = {}) const
    {
        Json json = Json::object();
        if (!says.empty())
            json["description"] = says;
        json["type"] = "object";
        json["required"] = required_;
        json["properties"] = properties_;
        return json;
    }

private:
    Json properties_ = Json::object();
    Json required_ = Json::array();
};

template <Described Row>
Json object_of()
{
    Members members;
    members.add_fields<Row>(Fields<Row>::kAll);
    return members.object();
}

template <Described Row>
Json line_of_row()
{
    Members members;
    members.add_type(Fields<Row>::kName);
    members.add_fields<Row>(Fields<Row>::kAll);
    if constexpr (requires { Fields<Row>::kSays; })
        return members.object(Fields<Row>::kSays);
    return members.object();
}

// What a record says of one of its fields, or of itself.
template <typename R>
constexpr std::string_view sentence_on(std::string_view field)
{
    if constexpr (requires { R::kSays; })
        for (const format::Says& says : R::kSays)
            if (says.field == field)
                return says.sentence;
    return {};
}

template <typename R>
constexpr bool says_only_of_its_fields()
{
    if constexpr (requires { R::kSays; })
        for (const format::Says& says : R::kSays)
            if (const auto& names = format::kFieldNames<R>;
                !says.field.empty() &&
                std::find(names.begin(), names.end(), says.field) == names.end())
                return false;
    return true;
}

template <typename R>
Json line_of_record()
{
    static_assert(says_only_of_its_fields<R>());
    const R record{};
    Members members;
    members.add_type(R::kLayout.name);
    members.add_fields<Called>(head_fields<R>());
    format::for_each_field(record, [&](std::string_view field, const auto& value) {
        for_each_member(
            field, value, [](std::uint64_t ticks) { return ticks; },
            [&]<typename Value>(std::string_view name, const Value&) {
                members.add<Value>(name, sentence_on<R>(field));
                members.require(name);
            });
    });
    return members.object(sentence_on<R>({}));
}

constexpr const char* kSays =
    "One line of what `vramscope export --to jsonl` writes: a header, every record of the log in "
    "the "
    "order of their times, a trailer. Within major version 1 members and types are only added: a "
    "reader should ignore what it does not know. Bytes and nanoseconds are integers; addresses, "
    "handles and offsets are hexadecimal strings; null means not known.";

// visit(type, its line): all that there are.
template <typename Visit>
void for_each_line(Visit&& visit)
{
    LineRows::for_each([&]<typename Row>() { visit(Fields<Row>::kName, line_of_row<Row>()); });
    for (const format::Layout& layout : format::Records::kLayouts)
        format::Records::of_tag(layout.tag, [&]<typename R>() {
            if constexpr (kHasLine<R>)
                visit(std::string(layout.name), line_of_record<R>());
        });
}

} // namespace

std::string events_schema()
{
    Json types = Json::array();
    Json choices = Json::array();
    Json definitions = shared_definitions();
    for_each_line([&](const std::string& type, Json line) {
        types.push_back(type);
        const Json is_type = {{"properties", {{"type", {{"const", type}}}}}};
        choices.push_back(Json{{"if", is_type}, {"then", shared(type)}});
        definitions[type] = std::move(line);
    });
    const Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                           {"$id", "https://vramscope.invalid/schema/1/events.schema.json"},
                           {"title", "vramscope events"},
                           {"description", kSays},
                           {"type", "object"},
                           {"required", {"type"}},
                           {"properties", {{"type", {{"enum", types}}}}},
                           {"allOf", choices},
                           {"$defs", definitions}};
    return document.dump(2) + '\n';
}

} // namespace vramscope::report
