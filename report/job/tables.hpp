// report/job/tables.hpp — processes as tables, for SQL and for programs that read columns.
//
// They are described once: SQLite's schema, the heads of CSV files and the rows come from that.
// Null is "not known". Of each process its verdict, its doubts and its lost events are there, so
// that a sum over rows can say what it does not know.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/job/rank_process.hpp"

namespace vramscope::report {

inline constexpr std::uint64_t kTablesVersion = 1;

enum class TableId { meta, processes, findings, doubts, devices, timeline, frames, sites, blocks };

// Where a value comes from: a member or a column of a reduced table with the same name, mostly.
enum class CellFrom {
    made,        // by the code that writes the row
    number,      // what is lacking is 0
    known,       // a number, of which 0 is "not known"
    maybe,       // a number, or null
    flag,        // 0 or 1
    text,        // empty: null
    text_number, // the number of a text
};

struct TableColumn {
    std::string_view name;
    CellFrom from = CellFrom::number;
    bool text = false; // else an integer

    constexpr TableColumn(std::string_view called, CellFrom source)
        : name(called), from(source),
          text(source == CellFrom::text || source == CellFrom::text_number)
    {
    }
    constexpr TableColumn(std::string_view called, CellFrom source, bool is_text)
        : name(called), from(source), text(is_text)
    {
    }
};

struct TableDescription {
    TableId id;
    std::string_view name;
    std::span<const TableColumn> columns;
};

std::span<const TableDescription> table_descriptions() noexcept; // by TableId
const TableDescription& description_of(TableId id) noexcept;

using TableValue = std::variant<std::monostate, std::uint64_t, std::string>;

class TableSink {
public:
    virtual ~TableSink() = default;
    // As many values as the table has columns.
    virtual void row(TableId table, const std::vector<TableValue>& values) = 0;
};

// Numbers processes from 0, in the order in which they come.
class TableWriter {
public:
    explicit TableWriter(TableSink& sink); // which outlives it

    // Error (bad_input) for what is no reduced table.
    void add(std::istream& reduced, const std::string& name);
    std::uint64_t processes() const noexcept { return next_; }

private:
    class Reader;

    TableSink& sink_;
    std::uint64_t next_ = 0;
    struct Known {
        RankProcess process;
        std::string log;
    };
    std::map<std::pair<std::string, std::uint64_t>, std::vector<Known>> known_; // by job and rank
    std::set<std::string> jobs_;
};

// A file's worth of comma-separated values, its head or a row: as RFC 4180 has them, but with a
// line feed at each end. Null is empty.
std::string csv_head(const TableDescription& table);
std::string csv_row(const std::vector<TableValue>& values);

} // namespace vramscope::report
