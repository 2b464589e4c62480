// tools/commands/schema.cpp — the JSON Schemas of what is written as JSON.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/exporters/reduced.hpp"
#include "report/json/json.hpp"
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

struct NamedSchema {
    std::string_view name;
    std::string (*text)(); // made when it is asked for, of the rows that are written
};
constexpr NamedSchema kSchemas[] = {
    // in the order in which they are offered
    {"report", report::report_schema_text}, {"events", report::events_schema},
    {"check", report::check_schema_text},   {"diff", report::comparison_schema_text},
    {"plan", report::plan_schema_text},     {"reduced", report::reduced_schema},
    {"job", report::job_schema_text},       {"reach", report::reach_schema_text},
};

std::vector<std::string> names()
{
    std::vector<std::string> names;
    for (const NamedSchema& schema : kSchemas)
        names.emplace_back(schema.name);
    return names;
}

int print_schema(const std::string& name)
{
    for (const NamedSchema& schema : kSchemas) {
        if (schema.name != name)
            continue;
        write_text_to(Output("-", {}, false), schema.text());
        return 0;
    }
    throw report::Error(report::Exit::usage,
                        fmt::format("no schema {}: there is {}", name, fmt::join(names(), ", ")));
}

} // namespace

void add_schema(CommandLine& line)
{
    const auto name = std::make_shared<std::string>("report");
    CLI::App& command = line.add("schema", "the JSON Schema of what is written as JSON",
                                 kSchemaFooter, print_schema, name);
    offer(command.add_option("NAME", *name,
                             "report, events, check, diff, plan, reduced, job or reach"),
          names());
}

} // namespace vramscope
