// report/exporters/reduced_schema.cpp — the schema of a reduced table's lines.
#include <span>
#include <string>

#include "report/exporters/reduced.hpp"
#include "report/exporters/reduced_columns.hpp"
#include "report/json/write.hpp"

namespace vramscope::report {
namespace {

constexpr const char* kReducedSays =
    "One line of what `vramscope reduce` and `run --reduced` write. The first line has the "
    "version. "
    "Then each process: its own line, a line for each device, and lines with columns and rows, of "
    "which there are several where there are many rows. The last line counts those between: a "
    "table "
    "without it was cut. Within a version members and columns are only added: a reader takes "
    "columns "
    "by their names.";

Json value_schema(const ReducedValue& value)
{
    Json schema;
    if (value.type == "number")
        schema = {{"type", "integer"}};
    else if (value.type == "number?")
        schema = {{"type", {"integer", "null"}}};
    else if (value.type == "text")
        schema = {{"type", "string"}};
    else if (value.type == "text?")
        schema = {{"type", {"string", "null"}}};
    else if (value.type == "flag")
        schema = {{"type", "boolean"}};
    else
        schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
    if (!value.says.empty())
        schema["description"] = std::string(value.says);
    return schema;
}

Json line_schema(const char* type, const Json& properties, Json required)
{
    Json all = {{"type", {{"const", type}}}};
    all.update(properties);
    required.insert(required.begin(), "type");
    return {{"type", "object"}, {"required", std::move(required)}, {"properties", std::move(all)}};
}

Json line_of_members(const char* type, std::span<const ReducedValue> members)
{
    Json properties = Json::object();
    Json required = Json::array();
    for (const ReducedValue& member : members) {
        properties[std::string(member.name)] = value_schema(member);
        required.push_back(std::string(member.name));
    }
    return line_schema(type, properties, std::move(required));
}

// What is in which column is said in words: a row may end before the last of them.
Json line_of_rows(const char* type, std::span<const ReducedValue> columns)
{
    Json names = Json::array();
    std::string says;
    for (const ReducedValue& column : columns) {
        names.push_back(std::string(column.name));
        if (!column.says.empty())
            says += std::string(says.empty() ? "" : " ") + std::string(column.name) + ": " +
                    std::string(column.says);
    }
    const Json cell = {{"anyOf", {{{"type", "integer"}}, {{"type", {"string", "null"}}}}}};
    const Json row = {{"type", "array"}, {"items", cell}};
    Json rows = {{"type", "array"}, {"items", row}};
    if (!says.empty())
        rows["description"] = says;
    return line_schema(type, {{"columns", {{"const", std::move(names)}}}, {"rows", rows}},
                       {"columns", "rows"});
}

Json line_of_counts()
{
    const Json counts = {
        {"type", "object"},
        {"additionalProperties", {{"type", "integer"}}},
        {"description", "How many lines of each type there are, but for the first and this one."}};
    return line_schema("end", {{"lines", counts}}, {"lines"});
}

} // namespace

std::string reduced_schema()
{
    const Json lines = {
        line_schema("reduced", {{"version", {{"const", kReducedVersion}}}}, {"version"}),
        line_of_members("process", kReducedProcess),
        line_of_members("device", kReducedDevice),
        line_of_rows("timeline", kReducedTimeline),
        line_of_rows("texts", kReducedTexts),
        line_of_rows("frames", kReducedFrames),
        line_of_rows("sites", kReducedSites),
        line_of_counts()};
    const Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                           {"$id", "https://vramscope.invalid/schema/1/reduced.schema.json"},
                           {"title", "vramscope reduced"},
                           {"description", kReducedSays},
                           {"oneOf", lines}};
    return document.dump(2) + '\n';
}

} // namespace vramscope::report
