// report/replay/steps.cpp — ranges are counted as they end, marks as they come.
#include "report/replay/steps.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {

void Steps::before(const Record& record)
{
    if (record.tag != format::Tag::range_pop)
        return;
    const std::uint32_t index = name_of_kind_[phases_.innermost_kind(record.thread)];
    if (index != kNone)
        names_[index].counter.add(record.ticks);
}

void Steps::after(const Record& record)
{
    if (record.tag == format::Tag::range_push) {
        const PhaseKind kind = phases_.innermost_kind(record.thread);
        if (kind >= name_of_kind_.size())
            meet(kind);
        if (const std::uint32_t index = name_of_kind_[kind]; index != kNone)
            names_[index].counter.begin(record.ticks);
    } else if (const auto mark = record.as<format::Mark>()) {
        if (const std::uint32_t index = index_of(mark->name, true); index != kNone)
            names_[index].counter.add(record.ticks);
    }
}

void Steps::meet(PhaseKind kind)
{
    const std::vector<std::string> path = phases_.kind_path(kind);
    const std::uint32_t index = index_of(path.back(), false);
    name_of_kind_.resize(kind + 1, kNone);
    name_of_kind_[kind] = index;
    if (index != kNone)
        names_[index].depth = std::min(names_[index].depth, path.size() - 1);
}

std::uint32_t Steps::index_of(std::string_view name, bool mark)
{
    std::string key = without_numbers(name);
    auto& known = mark ? marks_ : ranges_;
    if (const auto found = known.find(key); found != known.end())
        return found->second;
    if (names_.size() == kMostNames) {
        left_out_ = true;
        return kNone;
    }
    const auto index = static_cast<std::uint32_t>(names_.size());
    known.emplace(key, index);
    names_.push_back({.name = std::move(key), .mark = mark, .depth = SIZE_MAX, .counter = {}});
    return index;
}

const StepName* Steps::named(std::string_view name) const
{
    const std::string wanted = without_numbers(name);
    const StepName* found = nullptr;
    for (const StepName& known : names_)
        if (known.name == wanted && (!found || (found->mark && !known.mark)))
            found = &known;
    return found;
}

bool Steps::rebuild()
{
    for (std::uint32_t index = 0; index < names_.size(); ++index)
        (names_[index].mark ? marks_ : ranges_).try_emplace(names_[index].name, index);
    const auto is_there = [this](std::uint32_t index) {
        return index == kNone || index < names_.size();
    };
    return names_.size() <= kMostNames && name_of_kind_.size() >= phases_.kinds() &&
           std::all_of(name_of_kind_.begin(), name_of_kind_.end(), is_there);
}

} // namespace vramscope::report
