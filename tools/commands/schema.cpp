// tools/commands/schema.cpp — the JSON Schemas of what is written as JSON.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/json/schemas.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kSchemaFooter =
    R"(JSON Schemas, draft 2020-12. Within one major version members are only added.

Examples:
  vramscope schema                             the report's: what --json writes
  vramscope schema events > events.schema.json
)";

int print_schema(const std::string& name)
{
    for (const report::Schema& schema : report::schemas()) {
        if (schema.name != name)
            continue;
        write_text_to(Output("-", {}, false), std::string(schema.text));
        return 0;
    }
    std::string known;
    for (const report::Schema& schema : report::schemas())
        known += fmt::format("{}{}", known.empty() ? "" : ", ", schema.name);
    throw report::Error(report::Exit::usage, fmt::format("no schema {}: there is {}", name, known));
}

} // namespace

void add_schema(CommandLine& line)
{
    const auto name = std::make_shared<std::string>("report");
    CLI::App& command = line.add("schema", "the JSON Schema of what is written as JSON",
                                 kSchemaFooter, print_schema, name);
    std::vector<std::string> names;
    for (const report::Schema& schema : report::schemas())
        names.emplace_back(schema.name);
    offer(command.add_option("NAME", *name, "report, events, check, diff or plan"), names);
}

} // namespace vramscope
