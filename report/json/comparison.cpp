// report/json/comparison.cpp — a comparison as a document.
#include "report/model/comparison.hpp"

#include "report/json/documents.hpp"
#include "report/json/schema.hpp"
#include "report/judge/finding_kinds.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

struct ComparedSide {
    const Report* report;

    std::vector<std::string> logs() const
    {
        std::vector<std::string> logs;
        for (const Process& process : report->processes)
            logs.push_back(process.log.string());
        return logs;
    }
};
template <>
struct Fields<ComparedSide> {
    static constexpr const char* kName = "side";
    static constexpr FieldList kAll{
        Field{"verdict", Via{&ComparedSide::report, &Report::verdict}, "As in its report."},
        Field{"verdict_reasons", Via{&ComparedSide::report, &Report::reasons}}.lines(),
        Field{"logs", &ComparedSide::logs}.not_empty(),
    };
};

struct ComparisonDocument {
    const Comparison* comparison;
    ComparedSide base;
    ComparedSide now;
};
template <>
struct Fields<ComparisonDocument> {
    static constexpr const char* kName = "diff";
    static constexpr unsigned kMinorVersion = 3;
    static constexpr auto all = &ComparisonDocument::comparison;
    static constexpr FieldList kAll{
        Field{
            "verdict", Via{all, &Comparison::verdict},
            "worse: a finding is new or has grown, or a number regressed. better: findings have "
            "gone "
            "or shrunk, and nothing is worse. inconclusive: the logs do not show it; reasons says "
            "why."},
        Field{"reasons", Via{all, &Comparison::doubts}}.lines(),
        Field{"base", &ComparisonDocument::base},
        Field{"new", &ComparisonDocument::now},
        Field{"numbers", Via{all, &Comparison::numbers},
              "Of several processes: the highest peak of any, else sums."},
        Field{"leaks", Via{all, &Comparison::leaks},
              "By call stack, leaks and unclosed imports; those that did not change are left out. "
              "What leaks more first."},
        Field{"same_leaks", Via{all, &Comparison::same_leaks}},
        Field{"findings", Via{all, &Comparison::findings},
              "By kind and call stack, all that was found but leaks; those that did not change are "
              "left out. Of what grows the rate is compared, of all else how often it was."}
            .since(3),
        Field{"peak", Via{all, &Comparison::peak},
              "Of the device with the highest peak on each side, as leaks: who had more or less at "
              "it. Call stacks beyond the 50 largest of a side are not compared."},
        Field{
            "churn", Via{all, &Comparison::churn},
            "Who allocated more often or less: blocks and bytes that were allocated, in all. What "
            "has more calls first. Call stacks beyond the 50 of a process that its report's churn "
            "lists are not compared."}
            .since(1),
        Field{"reach", Via{all, &Comparison::reach},
              "Call stacks whose leaks were held in base and are lost now, or the other way round: "
              "where the memory of both runs was searched (`run --reach`). It judges nothing."}
            .since(3),
        Field{"objects", Via{all, &Comparison::objects},
              "Streams, events, graphs, modules and the like by kind and call stack, contexts by "
              "device and the call that opened them; those of which as many are left are left "
              "out. It judges nothing: what piles up is in findings."}
            .since(3),
        Field{"not_compared", Via{all, &Comparison::not_compared},
              "What the logs of one side record and those of the other do not."}
            .since(3)
            .lines(),
        Field{"owners", Via{all, &Comparison::owners},
              "Memory by owner and device, where --owners names owners; else empty. Of several "
              "processes sums, and of peaks the highest."}
            .since(3),
    };
};

Json comparison_json(const Comparison& comparison, const Report& base, const Report& now,
                     Audience audience)
{
    return document_of(ComparisonDocument{&comparison, {&base}, {&now}}, audience);
}

Json comparison_schema()
{
    Schema schema;
    Json document = schema.document<ComparisonDocument>("diff");
    std::vector<std::string> kinds;
    for (const FindingKind& kind : kFindingKinds)
        if (kind.finding != Finding::leaks && kind.with != Finding::leaks)
            kinds.push_back(kind.word);
    set_values(document["$defs"]["compared_finding"]["properties"]["kind"], kinds);
    set_values(document["$defs"]["number"]["properties"]["name"],
               {"leaked_bytes", "leaked_blocks", "unclosed_imports", "peak_bytes",
                "peak_reserved_bytes", "peak_host_bytes", "allocations", "driver_calls",
                "out_of_memory", "wrong_frees", "damaged_blocks"});
    return document;
}

} // namespace vramscope::report
