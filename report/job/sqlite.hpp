// report/job/sqlite.hpp — tables as a database, by the library of SQLite that is installed.
//
// It is loaded when it is first needed, so that nothing depends on it.
#pragma once

#include <memory>
#include <string>

#include "report/job/tables.hpp"

namespace vramscope::report {

// Of a database: its application_id, which tells it from those of others.
inline constexpr std::uint32_t kTablesApplication = 0x76726d73;

class SqliteTables : public TableSink {
public:
    // An empty file that nobody else writes. `events`: with the table of blocks. Error (usage): the
    // library is not here, or it says what is wrong.
    static std::unique_ptr<SqliteTables> open(const std::string& file, bool events);

    // Once, after the last row: the file is a database then.
    virtual void finish() = 0;
};

} // namespace vramscope::report
