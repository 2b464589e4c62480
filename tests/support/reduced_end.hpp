// tests/support/reduced_end.hpp — the last line of a reduced table whose other lines a test wrote.
#pragma once

#include <sstream>
#include <string>

#include "report/exporters/reduced.hpp"
#include "report/json/write.hpp"

namespace vramscope::test {

// Lines that are no JSON objects are not counted.
inline std::string with_end(const std::string& table)
{
    report::ReducedCounts counts;
    std::istringstream in(table);
    std::string line;
    std::getline(in, line); // the first line, which is not counted
    while (std::getline(in, line)) {
        const report::Json object = report::Json::parse(line, nullptr, false);
        if (object.is_object() && object.contains("type") && object["type"].is_string())
            ++counts[object["type"].get<std::string>()];
    }
    std::ostringstream end;
    report::end_reduced(end, counts);
    return table + (table.ends_with('\n') ? "" : "\n") + end.str();
}

// Without its last line, whatever that is.
inline std::string without_end(const std::string& table)
{
    const std::size_t end = table.size() < 2 ? table.npos : table.rfind('\n', table.size() - 2);
    return end == table.npos ? std::string() : table.substr(0, end + 1);
}

} // namespace vramscope::test
