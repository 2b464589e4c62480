// report/exporters/events_schema.cpp — the schema of events, made of the rows and records that are
// written.
#include <algorithm>
#include <string>
#include <utility>

#include "report/exporters/event_records.hpp"
#include "report/exporters/exporters.hpp"
#include "report/json/schema.hpp"

namespace vramscope::report {
namespace {

// A line of one type, whose first member says so.
class Line {
public:
    Line(Schema& schema, std::string_view type) : schema_(schema)
    {
        object_.add("type", {{"const", std::string(type)}}, true);
    }

    template <typename Row, typename List>
    void add_fields(const List& fields)
    {
        schema_.add_members<Row>(fields, object_);
    }

    template <typename Value>
    void add(std::string_view name, std::string_view says)
    {
        Json value = schema_.of<Value>();
        if (!says.empty())
            value["description"] = std::string(says);
        object_.add(name, std::move(value), true);
    }

    Json object(std::string_view says) const { return object_.json(says); }

private:
    Schema& schema_;
    ObjectSchema object_;
};

template <Described Row>
Json line_of_row(Schema& schema)
{
    Line line(schema, Fields<Row>::kName);
    line.add_fields<Row>(Fields<Row>::kAll);
    if constexpr (requires { Fields<Row>::kSays; })
        return line.object(Fields<Row>::kSays);
    else
        return line.object({});
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
Json line_of_record(Schema& schema)
{
    static_assert(says_only_of_its_fields<R>());
    const R record{};
    Line line(schema, R::kLayout.name);
    line.add_fields<Called>(head_fields<R>());
    format::for_each_field(record, [&](std::string_view field, const auto& value) {
        for_each_member(
            field, value, [](std::uint64_t ticks) { return ticks; },
            [&]<typename Value>(std::string_view name, const Value&) {
                line.add<Value>(name, sentence_on<R>(field));
            });
    });
    return line.object(sentence_on<R>({}));
}

constexpr const char* kSays =
    "One line of what `vramscope export --to jsonl` writes: a header, every record of the log"
    " in the order of their times, a trailer. Within major version 1 members and types are "
    "only added: a reader should ignore what it does not know. Bytes and nanoseconds are "
    "integers; addresses, handles and offsets are hexadecimal strings; null means not known.";

// visit(type, its line): all that there are.
template <typename Visit>
void for_each_line(Schema& schema, Visit&& visit)
{
    LineRows::for_each(
        [&]<typename Row>() { visit(Fields<Row>::kName, line_of_row<Row>(schema)); });
    for (const format::Layout& layout : format::Records::kLayouts)
        format::Records::of_tag(layout.tag, [&]<typename R>() {
            if constexpr (kHasLine<R>)
                visit(std::string(layout.name), line_of_record<R>(schema));
        });
}

} // namespace

std::string events_schema()
{
    Schema schema;
    Json types = Json::array();
    Json choices = Json::array();
    Json lines = Json::object();
    for_each_line(schema, [&](const std::string& type, Json line) {
        types.push_back(type);
        const Json is_type = {{"properties", {{"type", {{"const", type}}}}}};
        choices.push_back(Json{{"if", is_type}, {"then", {{"$ref", "#/$defs/" + type}}}});
        lines[type] = std::move(line);
    });
    lines.update(schema.definitions());
    const Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                           {"$id", "https://vramscope.invalid/schema/1/events.schema.json"},
                           {"title", "vramscope events"},
                           {"description", kSays},
                           {"type", "object"},
                           {"required", {"type"}},
                           {"properties", {{"type", {{"enum", types}}}}},
                           {"allOf", choices},
                           {"$defs", lines}};
    return document.dump(2) + '\n';
}

} // namespace vramscope::report
