// report/job/tables.cpp — the columns, and the rows of a reduced table.
#include "report/job/tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/job/reduced_lines.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr TableColumn kColumnsOfMeta[] = {{"tables_version", CellFrom::made}};
constexpr TableColumn kColumnsOfProcesses[] = {{"process", CellFrom::made},
                                               {"log", CellFrom::text},
                                               {"pid", CellFrom::number},
                                               {"program", CellFrom::text},
                                               {"command", CellFrom::text},
                                               {"host", CellFrom::text},
                                               {"job", CellFrom::text},
                                               {"launcher", CellFrom::text},
                                               {"rank", CellFrom::maybe},
                                               {"local_rank", CellFrom::maybe},
                                               {"world_size", CellFrom::maybe},
                                               {"started", CellFrom::text},
                                               {"started_ns", CellFrom::known},
                                               {"duration_ns", CellFrom::number},
                                               {"end", CellFrom::text},
                                               {"crashed", CellFrom::flag},
                                               {"verdict", CellFrom::text},
                                               {"doubts", CellFrom::made},
                                               {"allocations", CellFrom::number},
                                               {"frees", CellFrom::number},
                                               {"leaked_bytes", CellFrom::number},
                                               {"leaked_blocks", CellFrom::number},
                                               {"peak_device_bytes", CellFrom::number},
                                               {"out_of_memory_count", CellFrom::number},
                                               {"lost_events", CellFrom::number}};
constexpr TableColumn kColumnsOfFindings[] = {{"process", CellFrom::made},
                                              {"finding", CellFrom::made, true}};
constexpr TableColumn kColumnsOfDoubts[] = {{"process", CellFrom::made},
                                            {"doubt", CellFrom::made, true}};
constexpr TableColumn kColumnsOfDevices[] = {{"process", CellFrom::made},
                                             {"device", CellFrom::maybe},
                                             {"name", CellFrom::text},
                                             {"uuid", CellFrom::text},
                                             {"total_bytes", CellFrom::known},
                                             {"peak_allocated_bytes", CellFrom::number},
                                             {"peak_reserved_bytes", CellFrom::number},
                                             {"peak_requested_bytes", CellFrom::number}};
constexpr TableColumn kColumnsOfTimeline[] = {{"process", CellFrom::made},
                                              {"device", CellFrom::maybe},
                                              {"ns", CellFrom::number},
                                              {"peak_allocated_bytes", CellFrom::number},
                                              {"peak_reserved_bytes", CellFrom::number}};
constexpr TableColumn kColumnsOfFrames[] = {
    {"process", CellFrom::made},        {"frame", CellFrom::made},      {"caller", CellFrom::made},
    {"function", CellFrom::made, true}, {"file", CellFrom::made, true}, {"line", CellFrom::made}};
constexpr TableColumn kColumnsOfSites[] = {{"process", CellFrom::made},
                                           {"site", CellFrom::made},
                                           {"fingerprint", CellFrom::made, true},
                                           {"frame", CellFrom::maybe},
                                           {"function", CellFrom::made, true},
                                           {"file", CellFrom::made, true},
                                           {"line", CellFrom::made},
                                           {"api", CellFrom::text_number},
                                           {"memory", CellFrom::text_number},
                                           {"device", CellFrom::maybe},
                                           {"allocations", CellFrom::number},
                                           {"frees", CellFrom::made},
                                           {"allocated_bytes", CellFrom::number},
                                           {"peak_bytes", CellFrom::number},
                                           {"at_peak_bytes", CellFrom::number},
                                           {"live_bytes", CellFrom::number},
                                           {"live_blocks", CellFrom::number},
                                           {"leaked_bytes", CellFrom::number},
                                           {"leaked_blocks", CellFrom::number},
                                           {"class", CellFrom::text},
                                           {"growth_bytes_per_step", CellFrom::number},
                                           {"step", CellFrom::made, true},
                                           {"growth_bytes_per_second", CellFrom::number}};
constexpr TableColumn kColumnsOfBlocks[] = {
    {"process", CellFrom::made},   {"site", CellFrom::made},     {"address", CellFrom::made},
    {"bytes", CellFrom::made},     {"begin_ns", CellFrom::made}, {"end_ns", CellFrom::made},
    {"end", CellFrom::made, true}, {"thread", CellFrom::made},   {"phase", CellFrom::made, true}};

constexpr TableDescription kAllTables[] = {{TableId::meta, "meta", kColumnsOfMeta},
                                           {TableId::processes, "processes", kColumnsOfProcesses},
                                           {TableId::findings, "findings", kColumnsOfFindings},
                                           {TableId::doubts, "doubts", kColumnsOfDoubts},
                                           {TableId::devices, "devices", kColumnsOfDevices},
                                           {TableId::timeline, "timeline", kColumnsOfTimeline},
                                           {TableId::frames, "frames", kColumnsOfFrames},
                                           {TableId::sites, "sites", kColumnsOfSites},
                                           {TableId::blocks, "blocks", kColumnsOfBlocks}};

TableValue text_value(const std::string& text)
{
    return text.empty() ? TableValue() : TableValue(terminal_safe(text));
}

// SQLite has no larger ones.
TableValue number_value(std::uint64_t number)
{
    return number > INT64_MAX ? TableValue() : TableValue(number);
}

TableValue known_number(std::uint64_t number)
{
    return number == 0 ? TableValue() : number_value(number);
}

} // namespace

std::span<const TableDescription> table_descriptions() noexcept
{
    return kAllTables;
}

const TableDescription& description_of(TableId id) noexcept
{
    return kAllTables[static_cast<std::size_t>(id)];
}

class TableWriter::Reader : public ReducedLines {
public:
    Reader(TableWriter& tables, const std::string& name) : ReducedLines(name), tables_(tables) {}

    void finish() { write_frames(); }

private:
    void process(const Json& line) override
    {
        write_frames();
        number_ = tables_.next_++;
        sites_ = 0;
        std::vector<std::string> doubts = texts_in(member_of(line, "verdict_reasons"));
        compare_with_others(line, doubts);
        const auto cell = [&](const TableColumn& column) -> TableValue {
            return column.name == "doubts" ? TableValue(doubts.size()) : TableValue(number_);
        };
        write(
            TableId::processes, [&](std::string_view name) { return member_of(line, name); }, cell);
        for (const std::string& doubt : doubts)
            tables_.sink_.row(TableId::doubts, {number_, text_value(doubt)});
        for (const std::string& finding : texts_in(member_of(line, "findings")))
            tables_.sink_.row(TableId::findings, {number_, text_value(finding)});
    }

    void device(const Json& line) override
    {
        write(TableId::devices, [&](std::string_view name) { return member_of(line, name); });
    }

    void timeline(const Rows& rows) override
    {
        for (const Json& row : rows.all())
            write(TableId::timeline, [&](std::string_view name) { return rows.in(row, name); });
    }

    void sites(const Rows& rows) override
    {
        for (const Json& row : rows.all()) {
            const std::uint64_t site = sites_++;
            const ReducedFrame* const told = told_frame(rows, row);
            const std::string fingerprint = next_fingerprint(rows.in(row, "fingerprint"));
            const auto cell = [&](const TableColumn& column) -> TableValue {
                if (column.name == "process")
                    return number_;
                if (column.name == "site")
                    return site;
                if (column.name == "fingerprint")
                    return text_value(fingerprint);
                if (column.name == "frees")
                    return number_value(frees_of(rows, row));
                if (column.name == "step")
                    return number_in(rows.in(row, "growth_bytes_per_step")) == 0
                               ? TableValue()
                               : text_value(text_of(rows.in(row, "step")));
                return told == nullptr ? TableValue() : of_frame(*told, column.name);
            };
            write(
                TableId::sites, [&](std::string_view name) { return rows.in(row, name); }, cell);
        }
    }

    static std::uint64_t frees_of(const Rows& rows, const Json& row)
    {
        const std::uint64_t allocations = number_in(rows.in(row, "allocations"));
        return allocations - std::min(number_in(rows.in(row, "unfreed")), allocations);
    }

    // The one that a reader is told first; null: the site has none.
    const ReducedFrame* told_frame(const Rows& rows, const Json& row) const
    {
        std::size_t at = frame_in(rows.in(row, "frame"));
        if (at == ReducedFrame::kNone)
            return nullptr;
        for (std::uint64_t own = number_in(rows.in(row, "own"));
             own > 0 && frames()[at].caller != ReducedFrame::kNone; --own)
            at = frames()[at].caller;
        return &frames()[at];
    }

    static TableValue of_frame(const ReducedFrame& node, std::string_view column)
    {
        const Frame& frame = node.frame;
        if (column == "function")
            return text_value(frame.function);
        if (column == "file")
            return text_value(frame.line > 0 ? frame.file : frame.module);
        return known_number(static_cast<std::uint64_t>(frame.line));
    }

    void write_frames()
    {
        for (std::size_t at = 0; at < frames().size(); ++at) {
            const ReducedFrame& node = frames()[at];
            tables_.sink_.row(
                TableId::frames,
                {number_, at,
                 node.caller == ReducedFrame::kNone ? TableValue() : TableValue(node.caller),
                 of_frame(node, "function"), of_frame(node, "file"), of_frame(node, "line")});
        }
    }

    static RankProcess rank_process_in(const Json& line)
    {
        const std::uint64_t started_ns = number_in(member_of(line, "started_ns"));
        return {text_in(member_of(line, "job")),
                text_in(member_of(line, "host")),
                static_cast<std::uint32_t>(number_in(member_of(line, "pid"))),
                static_cast<std::uint32_t>(number_in(member_of(line, "parent_pid"))),
                started_ns,
                started_ns + number_in(member_of(line, "duration_ns")),
                member_of(line, "replaced") == true};
    }

    // Two runs of one rank are both there, and so is what makes a sum over them wrong.
    void compare_with_others(const Json& line, std::vector<std::string>& doubts)
    {
        const std::string log = text_in(member_of(line, "log"));
        const std::string job = text_in(member_of(line, "job"));
        if (!job.empty() && tables_.jobs_.insert(job).second && tables_.jobs_.size() > 1)
            doubts.push_back(
                fmt::format("it is of another job, {}, than processes before it", job));
        const auto rank = small_number_in(member_of(line, "rank"));
        if (!rank)
            return;
        std::vector<Known>& others = tables_.known_[{job, *rank}];
        const RankProcess process = rank_process_in(line);
        if (!others.empty() && std::none_of(others.begin(), others.end(), [&](const Known& other) {
                return are_one_rank(other.process, process);
            }))
            doubts.push_back(fmt::format("rank {} is {} too", *rank, others.front().log));
        others.push_back({process, log});
        const std::uint32_t size = small_number_in(member_of(line, "world_size")).value_or(0);
        if (size != 0 && *rank >= size)
            doubts.push_back(fmt::format("it says that it is rank {} of {}", *rank, size));
    }

    TableValue value_of(const TableColumn& column, const Json& value)
    {
        switch (column.from) {
        case CellFrom::number:
            return number_value(number_in(value));
        case CellFrom::known:
            return known_number(number_in(value));
        case CellFrom::maybe:
            return value.is_number_unsigned() ? number_value(number_in(value)) : TableValue();
        case CellFrom::flag:
            return std::uint64_t{value == true};
        case CellFrom::text:
            return text_value(text_in(value));
        case CellFrom::text_number:
            return text_value(text_of(value));
        case CellFrom::made:
            break;
        }
        return number_;
    }

    // `in`: what the line or row has under a name. `cell`: the values that it does not have.
    template <typename In, typename Cell = std::nullptr_t>
    void write(TableId table, In in, Cell cell = {})
    {
        std::vector<TableValue> values;
        for (const TableColumn& column : description_of(table).columns) {
            if constexpr (!std::is_same_v<Cell, std::nullptr_t>)
                if (column.from == CellFrom::made) {
                    values.push_back(cell(column));
                    continue;
                }
            values.push_back(value_of(column, in(column.name)));
        }
        tables_.sink_.row(table, values);
    }

    TableWriter& tables_;
    std::uint64_t number_ = 0;
    std::uint64_t sites_ = 0; // of the last process
};

TableWriter::TableWriter(TableSink& sink) : sink_(sink)
{
    sink_.row(TableId::meta, {kTablesVersion});
}

void TableWriter::add(std::istream& reduced, const std::string& name)
{
    Reader reader(*this, name);
    reader.read(reduced);
    reader.finish();
}

std::string csv_head(const TableDescription& table)
{
    std::string text;
    for (const TableColumn& column : table.columns)
        text += (text.empty() ? "" : ",") + std::string(column.name);
    return text + '\n';
}

std::string csv_row(const std::vector<TableValue>& values)
{
    std::string row;
    for (std::size_t at = 0; at < values.size(); ++at) {
        if (at > 0)
            row += ',';
        if (const auto* const cell = std::get_if<std::uint64_t>(&values[at]))
            row += std::to_string(*cell);
        else if (const auto* const words = std::get_if<std::string>(&values[at]))
            row += csv_text(*words);
    }
    return row + '\n';
}

} // namespace vramscope::report
