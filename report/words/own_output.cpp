// report/words/own_output.cpp — how each of our formats begins.
#include "report/words/own_output.hpp"

namespace vramscope::report {

bool is_own_output(std::string_view head) noexcept
{
    const auto has = [head](std::string_view text) { return head.find(text) != head.npos; };
    constexpr std::string_view kEvents = R"({"type":"header","schema_version":)";
    constexpr std::string_view kJson = "{\n  \"schema_version\": ";
    constexpr std::string_view kGzip = "\x1f\x8b\x08";
    constexpr std::string_view kSarif =
        "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\"";
    constexpr std::string_view kGitlab = "[\n  {\n    \"check_name\": \"vramscope/";
    constexpr std::string_view kXml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- ";
    if (head.starts_with(kEvents) || head.starts_with(kGitlab) || head == "[]\n")
        return true;
    constexpr std::string_view kPickle = "\x80\x04}(\x8c\x08"
                                         "exporter";
    for (const std::string_view begin :
         {kPickle, kOwnJsonHead, kOwnFoldedHead, kOwnTimelineHead, kOwnMetricsHead})
        if (head.starts_with(begin))
            return true;
    if (head.starts_with("========= ") && has(kOwnMark))
        return true;
    if (head.starts_with(kSarif))
        return has("\n          \"name\": \"vramscope\"");
    if (head.starts_with(kXml))
        return head.substr(kXml.size()).starts_with(kOwnMark);
    if (head.starts_with(kJson))
        return has("\n  \"verdict\": ");
    return (head.starts_with("v ") || head.starts_with(kGzip) || head.starts_with("<!doctype")) &&
           has(kOwnMark);
}

} // namespace vramscope::report
