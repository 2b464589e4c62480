// tools/commands/export_tables.cpp — see export_tables.hpp.
#include "tools/commands/export_tables.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/exporters/table_blocks.hpp"
#include "report/job/sqlite.hpp"
#include "report/job/tables.hpp"
#include "report/words/words.hpp"
#include "tools/commands/job_files.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/output/output_file.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;
using report::TableId;
using report::TableValue;

constexpr std::size_t kTableCount = static_cast<std::size_t>(TableId::blocks) + 1;

// A file of ours without a name, while a database is made in it.
class NamelessFile {
public:
    NamelessFile()
    {
        path_ = (fs::temp_directory_path() / "vramscope-tables.XXXXXX").string();
        descriptor_ = ::mkstemp(path_.data());
        if (descriptor_ < 0)
            throw report::Error(report::Exit::usage,
                                fmt::format("cannot write {}: {} (TMPDIR names another folder)",
                                            path_, std::strerror(errno)));
    }
    ~NamelessFile()
    {
        take_name();
        ::close(descriptor_);
    }
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    const std::string& path() const { return path_; }
    // Whoever opened it by its name goes on; nothing is left of it, however we end.
    void take_name()
    {
        if (!path_.empty())
            ::unlink(path_.c_str());
        path_.clear();
    }
    void copy_to(OutputFile& file) const
    {
        std::array<char, 1 << 16> piece;
        ::lseek(descriptor_, 0, SEEK_SET);
        for (ssize_t bytes = 0; (bytes = ::read(descriptor_, piece.data(), piece.size())) > 0;)
            file.write({piece.data(), static_cast<std::size_t>(bytes)});
    }

private:
    std::string path_;
    int descriptor_ = -1;
};

// Nothing is left of it where nothing was written to it.
class TablesFolder {
public:
    explicit TablesFolder(const std::string& name) : name_(name)
    {
        std::error_code problem;
        is_ours_ = fs::create_directory(name, problem);
        if (!fs::is_directory(name))
            throw report::Error(report::Exit::usage,
                                fmt::format("{} is no folder that tables can be written to", name));
    }
    ~TablesFolder()
    {
        if (is_ours_)
            ::rmdir(name_.c_str()); // if it is empty
    }
    TablesFolder(const TablesFolder&) = delete;
    TablesFolder& operator=(const TablesFolder&) = delete;

private:
    std::string name_;
    bool is_ours_ = false;
};

// Written together: each takes its place when all are whole.
class CsvTables : public report::TableSink {
public:
    CsvTables(const std::string& folder, const std::vector<fs::path>& inputs, bool force,
              bool events)
        : folder_(folder)
    {
        std::error_code problem;
        for (const report::TableDescription& table : report::table_descriptions()) {
            const fs::path name = fs::path(folder) / (std::string(table.name) + ".csv");
            if (table.id == TableId::blocks && !events) {
                if (fs::exists(fs::symlink_status(name, problem)))
                    throw report::Error(report::Exit::usage,
                                        fmt::format("{} is there from another export, and these "
                                                    "tables have none: remove it, or take --events",
                                                    name.string()));
                continue;
            }
            One& one = files_[static_cast<std::size_t>(table.id)];
            one.output.emplace(name.string(), inputs, force);
            one.file.emplace(*one.output);
            one.file->write(report::csv_head(table));
        }
    }

    void row(TableId table, const std::vector<TableValue>& values) override
    {
        constexpr std::size_t kPiece = 256 * 1024;
        One& one = files_[static_cast<std::size_t>(table)];
        one.text += report::csv_row(values);
        if (one.text.size() < kPiece)
            return;
        one.file->write(one.text);
        one.text.clear();
    }

    void finish()
    {
        for (One& one : files_)
            if (one.file)
                one.file->write(one.text);
        for (One& one : files_)
            if (one.file)
                one.file->finish();
    }

private:
    struct One {
        std::optional<Output> output;
        std::optional<OutputFile> file;
        std::string text; // not written yet
    };
    TablesFolder folder_; // outlives its files
    std::array<One, kTableCount> files_;
};

void add_blocks(report::TableSink& tables, std::uint64_t process, const fs::path& log,
                const report::Report& report, const report::Options& reading)
{
    const auto or_null = [](const auto& number) {
        return number ? TableValue(std::uint64_t{*number}) : TableValue();
    };
    report::for_each_block(log, report, reading, [&](const report::TableBlock& block) {
        tables.row(
            TableId::blocks,
            {process, or_null(block.site), block.address, block.bytes, block.begin_ns,
             or_null(block.end_ns), std::string(block.end), std::uint64_t{block.thread},
             block.phase.empty() ? TableValue() : TableValue(report::terminal_safe(block.phase))});
    });
}

void fill(report::TableSink& tables, const std::vector<fs::path>& files,
          const TablesOptions& options)
{
    report::Options reading;
    reading.suppressions = read_suppressions({});
    reading.symbols = read_symbol_options(options.symbols);
    reading.all_sites = true;
    report::Symbolizer symbolizer(reading.symbols);
    reading.symbolizer = &symbolizer;
    report::TableWriter writer(tables);
    for (const fs::path& file : files)
        read_job_file(file, reading, [&](std::istream& reduced, const report::Report* report) {
            if (options.events && report == nullptr)
                throw report::Error(report::Exit::usage,
                                    fmt::format("{} is a reduced table, which has no blocks: "
                                                "--events needs the log itself",
                                                file.string()));
            writer.add(reduced, file.string());
            if (options.events)
                add_blocks(tables, writer.processes() - 1, file, *report, reading);
        });
}

} // namespace

int export_sqlite(const TablesOptions& options)
{
    const std::vector<fs::path> files = find_job_files(options.files);
    const Output output(options.output, files, options.force);
    NamelessFile made;
    const auto tables = report::SqliteTables::open(made.path(), options.events);
    made.take_name();
    fill(*tables, files, options);
    tables->finish();
    OutputFile file(output);
    made.copy_to(file);
    file.finish();
    return 0;
}

int export_csv_tables(const TablesOptions& options)
{
    const std::vector<fs::path> files = find_job_files(options.files);
    CsvTables tables(options.output, files, options.force, options.events);
    fill(tables, files, options);
    tables.finish();
    return 0;
}

} // namespace vramscope
