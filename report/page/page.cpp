// report/page/page.cpp — the data of a page, put into the page that web/ was built to.
#include "report/page/page.hpp"

#include <fmt/format.h>

#include "report/json/ranks.hpp"
#include "report/json/sums.hpp"
#include "report/model/report.hpp"
#include "report/page/comparison.hpp"
#include "report/page/findings.hpp"
#include "report/page/plan.hpp"
#include "report/page/processes.hpp"
#include "report/page/template.hpp"
#include "report/page/tests.hpp"
#include "report/words/file_words.hpp"

namespace vramscope::report {
namespace {

Json texts_of(const std::vector<std::string>& texts, PageTables& tables)
{
    return tables.rows_of(texts, "notes", [&](const std::string& text) -> Json {
        return {{"text", tables.text(text)}};
    });
}

Json notes_of(const Report& report, PageTables& tables)
{
    std::vector<std::string> notes = report.notices;
    for (std::string& sentence : sentences_about(report.unread_files))
        notes.push_back(std::move(sentence));
    return texts_of(notes, tables);
}

Json ranks_of(const Report& report, PageTables& tables)
{
    return tables.rows_of(report.ranks.rows, "ranks", [&](const RankRow& row) -> Json {
        return {{"rank", or_null(row.rank)},
                {"process", row.process},
                {"verdict", tables.text(name(row.verdict))}};
    });
}

// What is shown: a report, and for `diff` what it is compared with.
struct Shown {
    const Report& report;
    std::string_view view;
    const Comparison* comparison = nullptr;
    const Report* base = nullptr;
    const Check* check = nullptr;
    std::optional<std::uint64_t> until_ns = {};
};

Json document_of(const Shown& shown, const PageLimits& limits)
{
    const Report& report = shown.report;
    PageTables tables(limits);
    Json document = {{"view", std::string(shown.view)},
                     {"verdict", name(report.verdict)},
                     {"until_ns", or_null(shown.until_ns)},
                     {"reasons", texts_of(report.reasons, tables)},
                     {"notes", notes_of(report, tables)},
                     {"totals", totals_json(report.totals)},
                     {"leak_count", report.leaks.size()},
                     {"leaks", page_leaks(report.leaks, "call stacks that leak", tables)},
                     {"imports", page_leaks(report.imports, "imports", tables)},
                     {"owners", page_leaks(report.owners, "owners", tables)},
                     {"suppressed", page_leaks(report.suppressed, "suppressed rows", tables)},
                     {"growth", page_growth(report.growth, tables)},
                     {"misuse", page_misuse(report, tables)},
                     {"shortages", page_shortages(report.shortages, tables)},
                     {"processes", page_processes(report, tables)},
                     {"process_count", report.processes.size()},
                     {"ranks", ranks_of(report, tables)}};
    if (shown.comparison)
        document["compared"] = page_comparison(*shown.comparison, *shown.base, tables);
    if (shown.check)
        document["checked"] = page_check(*shown.check, tables);
    tables.add_to(document);
    return document;
}

// For a place between <script> and </script>: ASCII alone, and nothing that ends it.
std::string script_text(const Json& document)
{
    const std::string json = document.dump(-1, ' ', true, Json::error_handler_t::replace);
    std::string text;
    text.reserve(json.size());
    for (const char c : json) {
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    }
    return text;
}

// Its document is made again, with less in it, until it is small enough.
template <typename MakeDocument>
std::string fitting_page(MakeDocument document_within)
{
    constexpr std::string_view kDataGoesHere = "@VRAMSCOPE_DATA@";
    const std::string_view page = page_template();
    const std::size_t at = page.find(kDataGoesHere);
    PageLimits limits;
    std::string data = script_text(document_within(limits));
    while (data.size() + page.size() > kMostPageBytes && limits.rows > 1) {
        limits = limits.halved();
        data = script_text(document_within(limits));
    }
    return fmt::format("{}{}{}", page.substr(0, at), data, page.substr(at + kDataGoesHere.size()));
}

std::string page_of(const Shown& shown)
{
    return fitting_page([&](const PageLimits& limits) { return document_of(shown, limits); });
}

} // namespace

std::string_view why_no_pages() noexcept
{
    return why_no_page();
}

std::string page_of(const Report& report, std::string_view view,
                    std::optional<std::uint64_t> until_ns)
{
    return page_of(Shown{.report = report, .view = view, .until_ns = until_ns});
}

std::string page_of(const Check& check, const Report& report)
{
    return page_of(Shown{.report = report, .view = "check", .check = &check});
}

std::string page_of(const Comparison& comparison, const Report& base, const Report& now)
{
    return page_of(Shown{.report = now, .view = "diff", .comparison = &comparison, .base = &base});
}

std::string page_of(const Plan& plan)
{
    return fitting_page([&](const PageLimits& limits) {
        PageTables tables(limits);
        Json document = {
            {"view", "plan"}, {"processes", Json::array()}, {"plan", page_plan(plan, tables)}};
        tables.add_to(document);
        return document;
    });
}

} // namespace vramscope::report
