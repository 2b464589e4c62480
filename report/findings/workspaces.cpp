// report/findings/workspaces.cpp — places that grow, joined by the library that they are of.
#include <algorithm>

#include "report/findings/findings.hpp"

namespace vramscope::report {
namespace {

// A reader looks for the line that asked the library, not for one inside of it.
std::size_t outside_of_library(const CallPlace& call)
{
    const auto frame = std::find_if(call.stack.begin(), call.stack.end(), [&](const Frame& one) {
        return file_name(one.module) != call.module;
    });
    return frame == call.stack.end() ? call.own
                                     : static_cast<std::size_t>(frame - call.stack.begin());
}

} // namespace

std::vector<Workspace> find_workspaces(const std::vector<Growth>& growing)
{
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
            row->own = outside_of_library(growth);
        }
        ++row->stacks;
        row->bytes += growth.bytes;
        row->blocks += growth.blocks;
    }
    return rows;
}

} // namespace vramscope::report
