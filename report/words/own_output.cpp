// report/words/own_output.cpp — how each of our formats begins.
#include "report/words/own_output.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

// Takes `text` away from the beginning. False: it does not begin so.
bool take(std::string_view& from, std::string_view text)
{
    const bool there = from.starts_with(text);
    from.remove_prefix(there ? text.size() : 0);
    return there;
}

void take_all_of(std::string_view& from, std::string_view characters)
{
    from.remove_prefix(std::min(from.find_first_not_of(characters), from.size()));
}

// "vramscope: device memory, device 0;main;load 4096": what we print to stderr begins alike.
bool is_folded(std::string_view head)
{
    constexpr std::string_view kDigits = "0123456789";
    if (!take(head, kOwnFoldedHead))
        return false;
    take_all_of(head, "abcdefghijklmnopqrstuvwxyz_");
    if (!take(head, " memory"))
        return false;
    if (take(head, ", device "))
        take_all_of(head, kDigits);
    return head.starts_with(';') ||
           (take(head, " ") && !head.empty() && kDigits.find(head.front()) != kDigits.npos);
}

} // namespace

bool is_own_output(std::string_view head) noexcept
{
    const auto has = [head](std::string_view text) { return head.find(text) != head.npos; };
    constexpr std::string_view kEvents = R"({"type":"header","schema_version":)";
    constexpr std::string_view kJson = R"({"schema_version":)";
    constexpr std::string_view kIndentedJson = "{\n  \"schema_version\": ";
    constexpr std::string_view kGzip = "\x1f\x8b\x08";
    constexpr std::string_view kSarif =
        "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\"";
    constexpr std::string_view kGitlab = "[\n  {\n    \"check_name\": \"vramscope/";
    constexpr std::string_view kXml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- ";
    if (head.starts_with(kEvents) || head.starts_with(kGitlab) || head == kOwnEmptyList ||
        is_folded(head))
        return true;
    constexpr std::string_view kPickle = "\x80\x04}(\x8c\x08"
                                         "exporter";
    constexpr std::string_view kReduced = R"({"type":"reduced","version":)";
    for (const std::string_view begin :
         {kReduced, kPickle, kOwnJsonHead, kOwnTimelineHead, kOwnBlocksHead, kOwnMetricsHead})
        if (head.starts_with(begin))
            return true;
    for (const std::string_view begin : kOwnTableHeads)
        if (head.starts_with(begin))
            return true;
    constexpr std::string_view kDatabase("SQLite format 3\0", 16);
    constexpr std::size_t kApplicationAt = 68;
    if (head.starts_with(kDatabase) && head.size() > kApplicationAt)
        return head.substr(kApplicationAt).starts_with(kOwnDatabase);
    if (head.starts_with("========= ") && has(kOwnMark))
        return true;
    if (head.starts_with(kSarif))
        return has("\n          \"name\": \"vramscope\"");
    if (head.starts_with(kXml))
        return head.substr(kXml.size()).starts_with(kOwnMark);
    if (head.starts_with(kJson))
        return has(R"("verdict":)");
    if (head.starts_with(kIndentedJson))
        return has("\n  \"verdict\": ") || has("\n    \"verdict\": ");
    return (head.starts_with("v ") || head.starts_with(kGzip) || head.starts_with("<!doctype")) &&
           has(kOwnMark);
}

} // namespace vramscope::report
