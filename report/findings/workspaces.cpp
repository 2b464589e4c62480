// report/findings/workspaces.cpp — places that grow, joined by the library that they are of.
#include <algorithm>

#include "report/findings/findings.hpp"

namespace vramscope::report {

std::vector<Workspace> find_workspaces(std::vector<Growth> growing)
{
    sort_by_speed(growing);
    std::vector<Workspace> rows;
    for (const Growth& growth : growing) {
        if (growth.library.empty())
            continue;
        auto row = std::find_if(rows.begin(), rows.end(), [&](const Workspace& one) {
            return one.library == growth.library && one.device == growth.device;
        });
        if (row == rows.end()) {
            row = rows.insert(
                row, Workspace{growth, 0, 0, 0, growth.rate, growth.device, growth.process});
        }
        ++row->stacks;
        row->bytes += growth.bytes;
        row->blocks += growth.blocks;
    }
    return rows;
}

} // namespace vramscope::report
