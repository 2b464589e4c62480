// report/findings/frameworks.cpp — libraries that were loaded, and what was set for them.
#include "report/findings/frameworks.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tracker/format/frameworks.hpp"

namespace vramscope::report {
namespace {

std::string library_of(const format::Framework& framework, const LogTables& tables)
{
    for (const Module& module : tables.modules())
        if (module.id.path.find(framework.library) != std::string::npos)
            return module.id.path;
    return {};
}

// The variable as it was set, if it bypasses the allocator; else empty.
std::string bypassing_variable(const format::Framework& framework, const LogTables& tables)
{
    if (!framework.variable)
        return {};
    const std::string_view value = tables.info_value(fmt::format("env.{}", framework.variable));
    return format::is_bypassed(framework, value) ? fmt::format("{}={}", framework.variable, value)
                                                 : std::string();
}

} // namespace

std::vector<FrameworkUse> find_frameworks(const LogTables& tables)
{
    std::vector<FrameworkUse> found;
    for (const format::Framework& framework : format::kFrameworks) {
        const auto& info = tables.info();
        const bool noted =
            std::find(info.begin(), info.end(),
                      std::pair<std::string, std::string>("bypassed", framework.name)) !=
            info.end();
        FrameworkUse use{framework.name, library_of(framework, tables), noted,
                         bypassing_variable(framework, tables)};
        if (use.library.empty() && !noted) // what is set for it says nothing
            continue;
        use.bypassed = noted || !use.bypassed_by.empty();
        found.push_back(std::move(use));
    }
    return found;
}

std::string notice_about(const FrameworkUse& use)
{
    if (use.bypassed)
        return fmt::format("allocator of {} bypassed{}: each of its buffers is an allocation",
                           use.name, use.bypassed_by.empty() ? "" : " by " + use.bypassed_by);
    return fmt::format("buffers of {} may lie in blocks of its own allocator: `vramscope run "
                       "--inside` makes each an allocation",
                       use.name);
}

} // namespace vramscope::report
