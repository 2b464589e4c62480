// report/findings/newer_functions.cpp — see newer_functions.hpp.
#include <algorithm>

#include <fmt/format.h>

#include "report/findings/findings.hpp"

namespace vramscope::report {

namespace {

constexpr std::string_view kKey = "unknown_entry_point";
constexpr std::size_t kMostInNotice = 6;

} // namespace

std::vector<std::string>
newer_functions(const std::vector<std::pair<std::string, std::string>>& info)
{
    std::vector<std::string> names;
    for (const auto& [key, value] : info)
        if (key == kKey)
            names.push_back(value);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::string newer_functions_notice(const std::vector<std::string>& names, bool more)
{
    if (names.empty())
        return {};
    std::vector<std::string> functions; // asked for in several ways and versions, and one function
    std::string_view last;
    for (const std::string& name : names) {
        const std::string_view function = std::string_view(name).substr(0, name.find('@'));
        const bool by_name = std::binary_search(names.begin(), names.end(), function);
        if (function.size() == name.size() || (!by_name && function != last))
            functions.push_back(name);
        last = function;
    }
    std::string listed;
    for (std::size_t at = 0; at < std::min(functions.size(), kMostInNotice); ++at)
        listed += (at ? ", " : "") + functions[at];
    if (functions.size() > kMostInNotice)
        listed += fmt::format(" and {} more", functions.size() - kMostInNotice);
    return fmt::format("the program looked up {}{} newer memory function{} that this version does "
                       "not know ({}): memory that comes from {} is not counted",
                       more ? "more than " : "", functions.size(),
                       functions.size() == 1 && !more ? "" : "s", listed,
                       functions.size() == 1 && !more ? "it" : "them");
}

} // namespace vramscope::report
