// report/job/table_owners.cpp — the lines of processes, by their beginning.
#include "report/job/table_owners.hpp"

#include <fstream>
#include <string_view>

#include "report/job/reduced_lines.hpp"
#include "report/job/reduced_table.hpp"

namespace vramscope::report {
namespace {

// A FIFO would not end.
std::ifstream opened(const std::filesystem::path& file)
{
    std::error_code unknown;
    return std::filesystem::is_regular_file(file, unknown) ? std::ifstream(file, std::ios::binary)
                                                           : std::ifstream();
}

} // namespace

bool is_no_table(const std::filesystem::path& file)
{
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown) && !std::filesystem::is_regular_file(file, unknown))
        return true;
    std::ifstream in = opened(file);
    std::string head(kReducedHead.size(), '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    return !head.empty() && head.front() != '\0' && !kReducedHead.starts_with(head);
}

std::vector<TableOwner> owners_of_table(const std::filesystem::path& file, std::size_t most)
{
    std::vector<TableOwner> owners;
    std::ifstream in = opened(file);
    std::string line;
    if (!std::getline(in, line) || !is_reduced(line))
        return owners;
    while (owners.size() < most && std::getline(in, line)) {
        if (!line.starts_with(R"({"type":"process",)"))
            continue;
        const Json process = Json::parse(line, nullptr, false);
        if (process.is_object())
            owners.push_back({.pid = number_in(member_of(process, "pid")),
                              .started_ns = number_in(member_of(process, "started_ns")),
                              .host = text_in(member_of(process, "host"))});
    }
    return owners;
}

} // namespace vramscope::report
