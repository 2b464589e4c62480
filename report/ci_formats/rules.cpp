// report/ci_formats/rules.cpp — a row for each budget; kinds of finding have theirs in judge.
#include "report/ci_formats/rules.hpp"

#include <algorithm>

#include "report/judge/finding_kinds.hpp"

namespace vramscope::report {
namespace {

// clang-format off
constexpr ProblemRule kBudgetRules[] = {
    {"max-peak", "PeakMemoryBudget", "More memory was allocated at once on one device than the budget allows.",
     "`vramscope peak LOG` has what the peak was made of.", nullptr},
    {"max-reserved", "ReservedMemoryBudget", "More memory was reserved on one device than the budget allows.",
     "`vramscope frag LOG` has what the pool kept, and why.", nullptr},
    {"max-fragmentation", "FragmentationBudget", "More of the reserved memory was of no use than the budget allows.",
     "`vramscope frag LOG` has the pieces that nothing could use.", nullptr},
    {"max-driver-calls", "DriverCallBudget", "More allocations and frees reached the driver than the budget allows.",
     "`vramscope churn LOG` has the places that allocate and free most often.", nullptr},
    {"rules", "RuleBroken", "A rule of --rules or --forbid was broken, or never applied.",
     "The message names the rule. The call is the one that broke it most often, or that had the most when a limit was passed.", nullptr},
    {"max-leaked-objects", "LeakedObjectBudget", "More streams, events, graphs, modules and the like were left at the end than the budget allows.",
     "`vramscope objects LOG` has the call stacks that made them.", nullptr},
    {"one-device", "OneDeviceBudget", "The process had contexts on more than one device.",
     "`vramscope contexts LOG` says who opened each.", nullptr},
    {"test", "TestMemoryBudget", "A test left more memory behind, or allocated more at once, than the budget allows, or it did not end.",
     "The test is judged by itself: what it allocated while it ran. The call is the largest of its leaks; `vramscope report LOG` has "
     "all tests.", nullptr},
};
// clang-format on

std::vector<ProblemRule> all_rules()
{
    std::vector<ProblemRule> rules;
    for (const FindingKind& kind : kFindingKinds)
        rules.push_back({kind.word, kind.title, kind.says, kind.help, kind.amount});
    rules.insert(rules.end(), std::begin(kBudgetRules), std::end(kBudgetRules));
    return rules;
}

} // namespace

const std::vector<ProblemRule>& problem_rules()
{
    static const std::vector<ProblemRule> kRules = all_rules();
    return kRules;
}

const ProblemRule& rule_of(std::string_view id)
{
    const std::vector<ProblemRule>& rules = problem_rules();
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [&](const ProblemRule& rule) { return rule.id == id; });
    return found == rules.end() ? rules.front() : *found;
}

} // namespace vramscope::report
