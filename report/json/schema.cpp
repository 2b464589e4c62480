// report/json/schema.cpp — what a schema says of a value, whatever row it is in.
#include "report/json/schema.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vramscope::report {

void add_condition(Json& schema, const std::pair<const char*, const char*>& has, const Json& then,
                   const Json& otherwise)
{
    schema["if"] = {{"properties", {{has.first, {{"const", has.second}}}}}};
    schema["then"] = {{"properties", then}};
    schema["else"] = {{"properties", otherwise}};
}

void set_values(Json& property, Json values)
{
    property.erase("type");
    property["enum"] = std::move(values);
}

void ObjectSchema::add(std::string_view name, Json property, bool is_required)
{
    properties[std::string(name)] = std::move(property);
    if (is_required)
        required.push_back(std::string(name));
}

Json ObjectSchema::json(std::string_view says) const
{
    Json schema = {{"type", "object"}, {"required", required}, {"properties", properties}};
    if (!says.empty())
        schema["description"] = std::string(says);
    return schema;
}

namespace plain_schema {

Json of_type(const char* type)
{
    return {{"type", type}};
}

Json count()
{
    return {{"type", "integer"}, {"minimum", 0}};
}

Json hex_number()
{
    return {{"type", "string"}, {"pattern", "^0x[0-9a-f]+$"}};
}

Json text_or_null()
{
    return {{"type", {"string", "null"}}};
}

Json always_true()
{
    return {{"const", true}};
}

Json list_of(Json rows)
{
    return {{"type", "array"}, {"items", std::move(rows)}};
}

Json lines()
{
    return list_of({{"type", "string"}, {"minLength", 1}});
}

Json any_of(Json values)
{
    return {{"enum", std::move(values)}};
}

Json object_of(Json values)
{
    return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

Json or_null(Json schema)
{
    if (schema.contains("enum"))
        schema["enum"].push_back(nullptr);
    else if (schema.contains("type") && schema["type"].is_string())
        schema["type"] = {schema["type"], "null"};
    else if (!schema.contains("type"))
        schema = {{"anyOf", {schema, {{"type", "null"}}}}};
    return schema;
}

} // namespace plain_schema

namespace {

void set_bounds(Json& property, const Bounds& bounds)
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

} // namespace

ObjectSchema Schema::versioned()
{
    ObjectSchema object;
    object.add("schema_version", {{"type", "string"}, {"pattern", "^1\\.[0-9]+\\.[0-9]+$"}}, true);
    return object;
}

Json Schema::whole(std::string_view name, std::string_view command, std::string_view more,
                   const ObjectSchema& object) const
{
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"$id", fmt::format("https://vramscope.invalid/schema/1/{}.schema.json", name)},
            {"title", fmt::format("vramscope {}", name)},
            {"description",
             fmt::format("What `vramscope {} --json` writes. Within major version 1 members are "
                         "only added, never changed or removed: a reader should ignore what it "
                         "does not know.{}{}",
                         command, more.empty() ? "" : " ", more)},
            {"type", "object"},
            {"required", object.required},
            {"properties", object.properties},
            {"$defs", definitions_}};
}

void Schema::add_member(ObjectSchema& object, const Said& said, Json property, bool present) const
{
    set_bounds(property, said.bounds);
    const bool later = is_later(said.added);
    if (!said.says.empty() || later)
        property["description"] = words_of(said.says, later ? said.added : 0);
    object.add(said.name, std::move(property), !later && !present);
}

bool Schema::is_later(unsigned added) const
{
    const bool by_the_report = added > minor_;
    return added > 0 && !(by_the_report && added <= with_report_);
}

std::string Schema::words_of(std::string_view says, unsigned added) const
{
    std::string words(says);
    if (added > 0 && added <= minor_)
        words += fmt::format("{}Since 1.{}.", words.empty() ? "" : " ", added);
    return words;
}

Json Schema::defined(const char* name, Json schema)
{
    definitions_[name] = std::move(schema);
    return refer(name);
}

Json Schema::refer(const char* name)
{
    return {{"$ref", fmt::format("#/$defs/{}", name)}};
}

void Schema::add_word(Json& words, const char* word)
{
    if (std::find(words.begin(), words.end(), word) == words.end())
        words.push_back(word);
}

} // namespace vramscope::report
