// report/exporters/table_blocks.hpp — every block of a log, by its row among the sites of a report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "report/findings/make_report.hpp"

namespace vramscope::report {

struct TableBlock {
    std::optional<std::size_t> site; // index into Process::sites
    std::uint64_t address;
    std::uint64_t bytes;
    std::uint64_t begin_ns;
    std::optional<std::uint64_t> end_ns; // nothing: it is alive when the log ends
    std::string_view end;                // freed, gone, context, alive
    std::uint32_t thread;
    const std::string& phase;
};

// `report` is of this log, made with `reading`, which has a symbolizer and all_sites.
void for_each_block(const std::filesystem::path& log, const Report& report, const Options& reading,
                    const std::function<void(const TableBlock&)>& show);

} // namespace vramscope::report
