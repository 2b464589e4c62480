// tools/process/inside.cpp — the variables of tracker/format/frameworks.hpp.
#include "tools/process/inside.hpp"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "tracker/format/frameworks.hpp"

namespace vramscope {
namespace {

// What --inside sets; empty: this framework has no variable for it.
std::string value_for(const format::Framework& framework)
{
    const std::string_view values = framework.bypassed_by ? framework.bypassed_by : "";
    return std::string(values.substr(0, values.find('|')));
}

} // namespace

std::string inside_help()
{
    std::string text = "\n--inside sets, unless it is set:\n";
    for (const format::Framework& framework : format::kFrameworks)
        if (const std::string value = value_for(framework); !value.empty())
            text += fmt::format("  {:<12}{}={}\n", framework.name, framework.variable, value);
    return text +
           "  CuPy        cupy.cuda.set_allocator(None) and set_pinned_memory_allocator(None), "
           "behind `import cupy`\n";
}

std::vector<std::string> switches_that_stay()
{
    std::vector<std::string> lines;
    for (const format::Framework& framework : format::kFrameworks) {
        const char* const set = framework.variable ? std::getenv(framework.variable) : nullptr;
        if (set && !value_for(framework).empty() && !format::is_bypassed(framework, set))
            lines.push_back(fmt::format("{}={}", framework.variable, set));
    }
    return lines;
}

void set_allocator_switches()
{
    for (const format::Framework& framework : format::kFrameworks)
        if (const std::string value = value_for(framework); !value.empty())
            ::setenv(framework.variable, value.c_str(), 0);
}

} // namespace vramscope
