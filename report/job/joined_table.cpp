// report/job/joined_table.cpp — lines are passed on as they are, also of types that are not known.
#include "report/job/joined_table.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <tuple>

#include "report/job/reduced_lines.hpp"

namespace vramscope::report {

class JoinedTable::Reader : public ReducedLines {
public:
    explicit Reader(const std::string& name) : ReducedLines(name) {}

    std::vector<Part>& parts() noexcept { return parts_; }

private:
    void process(const Json& line) override
    {
        parts_.push_back(part_of(line));
        frames().clear();
    }
    void sites(const Rows&) override {}
    void taken(const std::string& line) override { parts_.back().lines.append(line) += '\n'; }

    std::vector<Part> parts_;
};

JoinedTable::Part JoinedTable::part_of(const Json& process)
{
    return {.rank = small_number_in(member_of(process, "rank")).value_or(UINT32_MAX),
            .log = text_in(member_of(process, "log")),
            .pid = number_in(member_of(process, "pid")),
            .lines = {}};
}

void JoinedTable::add(std::istream& in, const std::string& name)
{
    Reader reader(name);
    reader.read(in);
    for (const auto& [type, count] : reader.counts())
        counts_[type] += count;
    std::move(reader.parts().begin(), reader.parts().end(), std::back_inserter(parts_));
}

// All of it is ours: it need not be understood.
void JoinedTable::add_own(std::istream& table)
{
    std::string head, process;
    std::getline(table, head);
    std::getline(table, process);
    Part part = part_of(Json::parse(process));
    part.lines = std::move(process) + '\n';
    part.lines.append(std::istreambuf_iterator<char>(table), {});
    const std::size_t end = part.lines.rfind('\n', part.lines.size() - 2) + 1;
    const Json last = Json::parse(part.lines.substr(end));
    for (const auto& [type, count] : member_of(last, "lines").items())
        counts_[type] += number_in(count);
    part.lines.resize(end);
    parts_.push_back(std::move(part));
}

void JoinedTable::write(const std::function<void(const std::string&)>& out)
{
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
        return std::tie(a.rank, a.log, a.pid, a.lines) < std::tie(b.rank, b.log, b.pid, b.lines);
    });
    std::ostringstream head;
    begin_reduced(head);
    out(head.str());
    for (const Part& part : parts_)
        out(part.lines);
    std::ostringstream end;
    end_reduced(end, counts_);
    out(end.str());
}

} // namespace vramscope::report
