// tools/commands/schema.cpp — the JSON Schemas of what is written as JSON.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
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

// In the order in which they are offered.
const std::vector<std::string> kNames = {"report", "events", "check", "diff", "plan"};

int print_schema(const std::string& name)
{
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end())
        throw report::Error(report::Exit::usage, fmt::format("no schema {}: there is {}", name,
                                                             fmt::join(kNames, ", ")));
    const Output out("-", {}, false);
    if (name == "events")
        write_text_to(out, report::events_schema());
    for (const report::Schema& schema : report::schemas())
        if (schema.name == name)
            write_text_to(out, std::string(schema.text));
    return 0;
}

} // namespace

void add_schema(CommandLine& line)
{
    const auto name = std::make_shared<std::string>("report");
    CLI::App& command = line.add("schema", "the JSON Schema of what is written as JSON",
                                 kSchemaFooter, print_schema, name);
    offer(command.add_option("NAME", *name, "report, events, check, diff or plan"), kNames);
}

} // namespace vramscope
