// tests/support/report_of.hpp — the report of a log that is made for a test.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "report/findings/make_report.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::test {

inline report::Report report_of(const LogBuilder& log)
{
    const TempFile file(log.build());
    return report::make_report({file.path()});
}

inline report::Report report_of_all(const std::vector<LogBuilder>& logs)
{
    std::vector<std::unique_ptr<TempFile>> files;
    std::vector<std::filesystem::path> paths;
    for (const LogBuilder& log : logs) {
        files.push_back(std::make_unique<TempFile>(log.build()));
        paths.push_back(files.back()->path());
    }
    return report::make_report(paths);
}

// Stacks 1 to 9 are at offsets 0x1000 to 0x9000 of a program that is not there.
inline LogBuilder program_with_stacks()
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "build");
    for (std::uint64_t id = 1; id <= 9; ++id)
        log.stack(id, {0x400001 + id * 0x1000});
    return log;
}

} // namespace vramscope::test
