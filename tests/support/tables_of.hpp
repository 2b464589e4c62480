// tests/support/tables_of.hpp — what a log defines.
#pragma once

#include "report/log/log_reader.hpp"
#include "report/log/log_tables.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::test {

inline report::LogTables tables_of(const LogBuilder& log)
{
    const TempFile file(log.build());
    const report::LogFile opened = report::LogFile::open(file.path());
    report::LogReader reader(opened);
    report::LogTables tables;
    while (const report::Record* const record = reader.next())
        tables.define(*record);
    return tables;
}

} // namespace vramscope::test
