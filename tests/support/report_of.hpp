// tests/support/report_of.hpp — the report of a log that is made for a test.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "report/findings/make_report.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::test {

inline report::Report report_of(const LogBuilder& log, const report::Options& options = {})
{
    const TempFile file(log.build());
    return report::make_report({file.path()}, options);
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

// From a segment of 20 MiB an allocator cuts 3 MiB, which leak, and 4 MiB; 5 MiB are the driver's.
// At most 12 MiB are allocated and 25 MiB reserved, 8 MiB leak. `leaked`: bytes of the first block.
inline LogBuilder program_that_cuts(std::uint64_t leaked = 3_MiB)
{
    constexpr std::uint64_t kSegment = 0x1'0000'0000;
    LogBuilder log = program_with_stacks();
    log.header().suballocated = 1;
    log.place({.context = 1, .device = 0}).alloc(kSegment, 20_MiB, 1);
    log.alloc(kSegment, leaked, 2, "PyTorch").alloc(kSegment + 4_MiB, 4_MiB, 3, "PyTorch");
    return log.alloc(0x1000, 5_MiB, 4).free(kSegment + 4_MiB, "PyTorch");
}

} // namespace vramscope::test
