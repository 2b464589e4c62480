// report/rules/named_steps.cpp — which patterns each open range fits.
#include "report/rules/named_steps.hpp"

#include <algorithm>

#include "report/rules/rule.hpp"

namespace vramscope::report {

NamedSteps::Pattern NamedSteps::watch(std::string_view glob)
{
    const auto known = std::ranges::find(patterns_, glob, &Counts::glob);
    if (known != patterns_.end())
        return static_cast<Pattern>(known - patterns_.begin());
    patterns_.push_back({.glob = std::string(glob)});
    return patterns_.size() - 1;
}

void NamedSteps::apply(const Record& record)
{
    if (const auto opened = record.as<format::RangePush>())
        push(record.thread, opened->name);
    else if (record.as<format::RangePop>())
        pop(record.thread);
    else if (const auto mark = record.as<format::Mark>())
        for (Counts& counts : patterns_)
            counts.marks += glob_matches(counts.glob, mark->name);
}

void NamedSteps::push(std::uint32_t thread, std::string_view name)
{
    Open& open = threads_[thread];
    if (open.ranges.size() == kMostOpen) {
        ++open.too_deep;
        return;
    }
    std::vector<Pattern>& fits = open.ranges.emplace_back();
    for (Pattern pattern = 0; pattern < patterns_.size(); ++pattern) {
        Counts& counts = patterns_[pattern];
        if (!glob_matches(counts.glob, name))
            continue;
        fits.push_back(pattern);
        ++counts.began;
        ++counts.open[thread];
    }
}

void NamedSteps::pop(std::uint32_t thread)
{
    Open& open = threads_[thread];
    if (open.too_deep > 0) {
        --open.too_deep;
        return;
    }
    if (open.ranges.empty())
        return;
    for (const Pattern pattern : open.ranges.back()) {
        ++patterns_[pattern].ended;
        --patterns_[pattern].open[thread];
    }
    open.ranges.pop_back();
}

bool NamedSteps::is_open(Pattern pattern, std::uint32_t thread) const
{
    const auto open = patterns_[pattern].open.find(thread);
    return open != patterns_[pattern].open.end() && open->second > 0;
}

} // namespace vramscope::report
