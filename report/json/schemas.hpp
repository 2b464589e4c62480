// report/json/schemas.hpp — the JSON Schemas of all that is written as JSON.
#pragma once

#include <span>
#include <string_view>

namespace vramscope::report {

struct Schema {
    std::string_view name; // "report" of report.schema.json
    std::string_view text;
};

std::span<const Schema> schemas();

} // namespace vramscope::report
