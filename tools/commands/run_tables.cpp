// tools/commands/run_tables.cpp — a name for each table that no other process has.
#include "tools/commands/run_tables.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "report/exporters/reduced.hpp"
#include "report/job/table_owners.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/output_file.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;
using Owners = std::vector<report::TableOwner>;

// An empty file is a name that another rank has taken and not written yet. A cut table may be
// anybody's.
bool is_of_another(const fs::path& there, const report::TableOwner& owner)
{
    std::error_code unknown;
    if (!fs::is_regular_file(there, unknown) || report::is_no_table(there))
        return false;
    return report::owners_of_table(there, 1) != Owners{owner} || // a join may be large
           report::owners_of_table(there) != Owners{owner};
}

// The name of a table, taken by an empty file where nothing was there: ranks end at the same time,
// and not every file system has links.
class TableName {
public:
    TableName(const fs::path& log, const report::TableOwner& owner)
    {
        for (int number = 0;; ++number) {
            name_ = log.string() + (number > 0 ? fmt::format(".{}", number) : "") + ".jsonl";
            const int file = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
            ours_ = file >= 0;
            if (ours_)
                ::close(file);
            // What else is wrong is said by whoever writes there.
            if (ours_ || errno != EEXIST || !is_of_another(name_, owner))
                return;
        }
    }
    TableName(const TableName&) = delete;
    TableName& operator=(const TableName&) = delete;
    ~TableName()
    {
        if (ours_)
            ::unlink(name_.c_str());
    }

    const std::string& name() const { return name_; }
    void keep() { ours_ = false; }

private:
    std::string name_;
    bool ours_ = false; // there is nothing of worth yet
};

report::TableOwner owner_of(const report::Process& process)
{
    return {
        .pid = process.pid, .started_ns = process.started_ns, .host = process.info_value("host")};
}

} // namespace

void write_tables(const fs::path& folder, const std::vector<fs::path>& logs,
                  const report::Report& report, const report::Options& reading, bool force)
{
    for (const fs::path& log : logs) {
        const report::Report one = logs.size() == 1 ? report : read_logs({log}, reading);
        TableName name(folder / log.filename(), owner_of(one.processes.front()));
        const Output output(name.name(), logs, force);
        std::ostringstream table;
        report::write_reduced(table, one);
        write_text_to(output, table.str());
        name.keep();
        say(fmt::format("table: {}", name.name()));
    }
}

} // namespace vramscope
