// report/reach/holder_steps.cpp — joining steps, and their words.
#include "report/reach/holder_steps.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/model/reach.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

void add_step(HolderSteps& steps, std::string text)
{
    if (steps.empty() || steps.back().text != text)
        return steps.push_back({std::move(text)});
    ++steps.back().least_times;
    ++steps.back().most_times;
}

void widen(HolderSteps& steps, const HolderSteps& others)
{
    for (std::size_t at = 0; at < std::min(steps.size(), others.size()); ++at) {
        steps[at].least_times = std::min(steps[at].least_times, others[at].least_times);
        steps[at].most_times = std::max(steps[at].most_times, others[at].most_times);
    }
}

std::string texts_of(const HolderSteps& steps)
{
    std::string texts;
    for (const HolderStep& step : steps)
        texts.append(texts.empty() ? "" : kChainArrow).append(step.text);
    return texts;
}

std::vector<std::string> chain_of(const HolderSteps& steps)
{
    std::vector<std::string> chain;
    for (const auto& [text, least, most] : steps)
        chain.push_back(most == 1       ? text
                        : least == most ? fmt::format("{}, {} times", text, grouped(most))
                                        : fmt::format("{}, {} to {} times", text, grouped(least),
                                                      grouped(most)));
    return chain;
}

} // namespace vramscope::report
