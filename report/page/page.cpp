// report/page/page.cpp — the data of a page, put into the page that web/ was built to.
#include "report/page/page.hpp"

#include <vector>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/page/documents.hpp"
#include "report/page/drawn.hpp"
#include "report/page/packer.hpp"
#include "report/page/source_lines.hpp"
#include "report/page/template.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

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
std::string fitting_page(MakeDocument document_within, PageLimits limits = {})
{
    constexpr std::string_view kDataGoesHere = "@VRAMSCOPE_DATA@";
    const std::string_view page = page_template();
    const std::size_t at = page.find(kDataGoesHere);
    std::string data = script_text(document_within(limits));
    while (data.size() + page.size() > kMostPageBytes && limits.rows > 1) {
        limits = limits.halved();
        data = script_text(document_within(limits));
    }
    return fmt::format("{}{}{}", page.substr(0, at), data, page.substr(at + kDataGoesHere.size()));
}

// Links to lines, and the lines themselves; read once, however often a document is made of them.
class SourcesOfPage {
public:
    SourcesOfPage(const PageSources& sources, const std::vector<const Json*>& documents)
        : sources_(sources),
          lines_(sources.lines ? source_lines_json(documents, *sources.lines) : Json::array())
    {
    }

    void add_to(Json& document, Packer& packer) const
    {
        if (!sources_.url.empty()) {
            document["source_url"] = sources_.url;
            document["source_root"] = terminal_safe((sources_.root / "").string());
        }
        if (!lines_.empty())
            document["sources"] = packer.packed(lines_, "sources");
    }

private:
    const PageSources& sources_;
    const Json lines_;
};

// What is shown of a report, and for `check` and `diff` what it is held against: other documents,
// by their names.
std::string page_of(const Report& report, std::string_view view,
                    std::optional<std::uint64_t> until_ns, const PageSources& sources,
                    const Json& others)
{
    const Json whole = report_json(report, Audience::page);
    const SourcesOfPage sources_of_page(sources, {&whole, &others});
    return fitting_page([&](const PageLimits& limits) {
        Packer packer(limits);
        Json document = {{"view", std::string(view)},
                         {"until_ns", until_ns ? Json(*until_ns) : Json(nullptr)},
                         {"report", packer.packed(whole)},
                         {"drawn", packer.packed(drawn_json(report, limits))},
                         {"host", packer.packed(host_json(report, limits))}};
        for (const auto& [name, other] : others.items())
            document[name] = packer.packed(other, name);
        sources_of_page.add_to(document, packer);
        packer.add_tables(document);
        return document;
    });
}

// A page of another document than a report's, which is its view too.
std::string page_of_document(const char* name, const Json& whole, const PageSources& sources,
                             PageLimits most = {})
{
    const SourcesOfPage sources_of_page(sources, {&whole});
    return fitting_page(
        [&](const PageLimits& limits) {
            Packer packer(limits);
            Json document = {{"view", name}, {name, packer.packed(whole)}};
            sources_of_page.add_to(document, packer);
            packer.add_tables(document);
            return document;
        },
        most);
}

} // namespace

std::string_view why_no_pages() noexcept
{
    return why_no_page();
}

std::string page_of(const Report& report, std::string_view view,
                    std::optional<std::uint64_t> until_ns, const PageSources& sources)
{
    return page_of(report, view, until_ns, sources, Json::object());
}

std::string page_of(const Check& check, const Report& report, const PageSources& sources)
{
    return page_of(report, "check", {}, sources, {{"check", check_document(check, report)}});
}

std::string page_of(const Comparison& comparison, const Report& base, const Report& now,
                    const PageSources& sources)
{
    return page_of(now, "diff", {}, sources,
                   {{"diff", comparison_document(comparison, base, now)}});
}

std::string page_of(const Plan& plan, const PageSources& sources)
{
    return page_of_document("plan", plan_document(plan), sources);
}

std::string page_of(const Job& job, const PageSources& sources)
{
    return page_of_document("job", job_document(job), sources, {.processes = 64 << 10});
}

} // namespace vramscope::report
