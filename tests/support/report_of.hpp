// tests/support/report_of.hpp — the report of a log that is made for a test.
#pragma once

#include "report/report.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::test {

inline report::Report report_of(const LogBuilder& log)
{
    const TempFile file(log.build());
    return report::make_report({file.path()});
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
