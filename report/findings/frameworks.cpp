// report/findings/frameworks.cpp — libraries that were loaded, and what was set for them.
#include "tracker/format/frameworks.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/findings/findings.hpp"

namespace vramscope::report {
namespace {

std::string library_of(std::string_view part_of_path, const LogTables& tables)
{
    for (const Module& module : tables.modules())
        if (module.id.path.find(part_of_path) != std::string::npos)
            return module.id.path;
    return {};
}

// "NAME=VALUE" of a variable that was set; else empty.
std::string as_set(const char* variable, const LogTables& tables)
{
    const std::string key = fmt::format("env.{}", variable);
    for (const auto& [name, value] : tables.info())
        if (name == key)
            return fmt::format("{}={}", variable, value);
    return {};
}

// The variable as it was set, if it bypasses the allocator; else empty.
std::string bypassing_variable(const format::Framework& framework, const LogTables& tables)
{
    const std::string set = framework.variable ? as_set(framework.variable, tables) : "";
    return format::is_bypassed(framework, std::string_view(set).substr(set.find('=') + 1)) ? set
                                                                                           : "";
}

// Any value of the first variable counts, also "0".
std::string pytorch_bypass(const LogTables& tables)
{
    std::string set = as_set("PYTORCH_NO_CUDA_MEMORY_CACHING", tables);
    for (const char* variable : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"})
        if (const std::string other = as_set(variable, tables);
            set.empty() && other.find("backend:cudaMallocAsync") != std::string::npos)
            set = other;
    return set;
}

bool was_noted(const format::Framework& framework, const LogTables& tables)
{
    const std::pair<std::string, std::string> note("bypassed", framework.name);
    return std::find(tables.info().begin(), tables.info().end(), note) != tables.info().end();
}

void add_those_that_told(std::vector<FrameworkUse>& found, const LogTables& tables)
{
    for (const Api& api : tables.apis()) {
        if (api.memory != format::Memory::suballocated || api.events == 0)
            continue;
        auto use = std::find_if(found.begin(), found.end(), [&api](const FrameworkUse& known) {
            return known.name == api.name;
        });
        if (use == found.end()) {
            use = found.emplace(use);
            use->name = api.name;
        }
        (api.effect == format::Effect::free ? use->told_of_returns : use->told_of_blocks) +=
            api.events;
    }
}

} // namespace

std::vector<FrameworkUse> find_frameworks(const LogTables& tables)
{
    std::vector<FrameworkUse> found;
    const auto add = [&found](std::string name, std::string library, bool noted, std::string by) {
        if (library.empty() && !noted) // what is set for it says nothing
            return;
        FrameworkUse& use = found.emplace_back();
        use.bypassed = noted || !by.empty();
        use.name = std::move(name);
        use.library = std::move(library);
        use.bypassed_by = std::move(by);
    };
    add(format::kPyTorch, library_of("/libc10_cuda.so", tables), false, pytorch_bypass(tables));
    for (const format::Framework& framework : format::kFrameworks)
        add(framework.name, library_of(framework.library, tables), was_noted(framework, tables),
            bypassing_variable(framework, tables));
    add_those_that_told(found, tables);
    return found;
}

std::string notice_about(const FrameworkUse& use)
{
    if (use.told())
        return {};
    if (use.bypassed)
        return fmt::format("allocator of {} bypassed{}: each of its buffers is an allocation",
                           use.name, use.bypassed_by.empty() ? "" : " by " + use.bypassed_by);
    if (use.name == format::kPyTorch)
        return {};
    return fmt::format("buffers of {} may lie in blocks of its own allocator: `vramscope run "
                       "--inside` makes each an allocation",
                       use.name);
}

} // namespace vramscope::report
