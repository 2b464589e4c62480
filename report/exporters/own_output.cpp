// report/exporters/own_output.cpp — see own_output.hpp.
#include "report/exporters/own_output.hpp"

namespace vramscope::report {

bool is_own_output(std::string_view head) noexcept
{
    const auto has = [head](std::string_view text) { return head.find(text) != head.npos; };
    constexpr std::string_view kEvents = R"({"type":"header","schema_version":)";
    constexpr std::string_view kJson = "{\n  \"schema_version\": ";
    constexpr std::string_view kGzip = "\x1f\x8b\x08";
    if (head.starts_with(kEvents))
        return true;
    if (head.starts_with(kJson))
        return has("\n  \"verdict\": ");
    return (head.starts_with("v ") || head.starts_with(kGzip)) && has(kOwnMark);
}

} // namespace vramscope::report
