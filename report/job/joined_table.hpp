// report/job/joined_table.hpp — reduced tables as one: what a tree of joins passes on.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "report/exporters/reduced.hpp"
#include "report/json/write.hpp"

namespace vramscope::report {

// Its processes are in one order, whatever the order and the grouping of what was added: a join of
// joins has the same bytes as one join of all.
class JoinedTable {
public:
    // Error (bad_input) for what is no reduced table, one of another version, or one that was cut;
    // nothing of it is added then.
    void add(std::istream& in, const std::string& name);
    // That write_reduced() made, of one process.
    void add_own(std::istream& table);

    // In pieces, as the whole may be large.
    void write(const std::function<void(const std::string&)>& out);

private:
    struct Part {
        std::uint32_t rank; // UINT32_MAX: it has none
        std::string log;
        std::uint64_t pid;
        std::string lines; // as they were
    };
    class Reader;
    static Part part_of(const Json& process);

    std::vector<Part> parts_; // a process each
    ReducedCounts counts_;    // of their lines
};

} // namespace vramscope::report
