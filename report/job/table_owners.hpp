// report/job/table_owners.hpp — whose a reduced table is, without a look at the rest of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vramscope::report {

// What tells a process from all others of a job, on whatever host or in whatever container.
struct TableOwner {
    std::uint64_t pid = 0;
    std::uint64_t started_ns = 0; // real time; 0: not known
    std::string host;

    bool operator==(const TableOwner&) const = default;
};

// Whether it is a regular file that begins as no reduced table does, be it a cut one: of an empty
// file, of one of zeros and of one that cannot be read nobody knows what they were.
bool is_no_table(const std::filesystem::path& file);

// Of each process that the table has, in their order, and of no more than `most`. Nothing is
// checked: where there are none it is no table, or it was cut.
std::vector<TableOwner> owners_of_table(const std::filesystem::path& file,
                                        std::size_t most = SIZE_MAX);

} // namespace vramscope::report
