// report/replay/steps.cpp — ranges and marks are counted by name; which of them are steps.
#include "report/replay/steps.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace vramscope::report {
namespace {

constexpr std::uint64_t kMany = 16; // so many instances tell a trend

// 2: by its name it is the step of a loop; 1: of some loop.
int says_step(const std::string& name)
{
    std::string lower = name;
    for (char& c : lower)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
    return has("step") || has("iter") ? 2 : has("batch") || has("epoch") ? 1 : 0;
}

// CCCL puts a range around each of its algorithms. The recorder leaves them out by their domain; of
// older logs, and where a library has them in another one, their names tell.
bool is_of_cccl(const StepName& name)
{
    return name.name.starts_with("cub::") || name.name.starts_with("thrust::");
}

std::uint64_t covered(const StepName& name) noexcept
{
    return name.counter.last_ticks() - name.counter.begin_ticks();
}

// In both halves of the work: it goes on in the second by time and by allocations, and began in the
// first by one of them.
bool is_in_both_halves(const StepCounter& counter, const Work& work)
{
    const std::uint64_t middle = work.begin_ticks + (work.end_ticks - work.begin_ticks) / 2;
    const double half = static_cast<double>(work.allocations.count()) / 2;
    return counter.last_ticks() >= middle && work.allocations.at(counter.last_ticks()) >= half &&
           (counter.begin_ticks() <= middle || work.allocations.at(counter.begin_ticks()) <= half);
}

// The most of the work came behind them: they are another part of it.
bool were_over_early(const StepCounter& counter, const Work& work)
{
    return work.allocations.at(counter.last_ticks()) <
           static_cast<double>(work.allocations.count()) / 2;
}

bool suits(const StepName& name, const StepPlace& place, const Work& work)
{
    if (place.first_ticks >= name.counter.last_ticks() && were_over_early(name.counter, work))
        return false;
    return says_step(name.name) > 0 ||
           (place.last_ticks > name.counter.begin_ticks() && is_in_both_halves(name.counter, work));
}

// Greater: a better unit to count the work in.
auto rank(const StepName& name)
{
    const bool many = name.counter.count() >= kMany;
    const auto inner = static_cast<std::int64_t>(name.depth);
    return std::tuple(says_step(name.name), many, -inner, name.counter.count(), !name.mark);
}

} // namespace

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
    if (names_.size() == kMostNames)
        return kNone;
    const auto index = static_cast<std::uint32_t>(names_.size());
    known.emplace(key, index);
    names_.push_back({.name = std::move(key), .mark = mark, .depth = SIZE_MAX, .counter = {}});
    return index;
}

std::uint64_t Steps::most_covered() const noexcept
{
    std::uint64_t most = 0;
    for (const StepName& name : names_)
        if (name.counter.count() >= kFewest && !is_of_cccl(name))
            most = std::max(most, covered(name));
    return most;
}

const StepName* Steps::best(const Work& work) const
{
    return best_of(StepPlace{}, work);
}

const StepName* Steps::best_of(const StepPlace& place, const Work& work) const
{
    const std::span<const std::string> ranges = place.ranges;
    const std::uint64_t enough = most_covered() / 2;
    const StepName* best = nullptr;
    bool best_is_around = false;
    for (const StepName& name : names_) {
        if (name.counter.count() < kFewest || covered(name) < enough || is_of_cccl(name) ||
            !suits(name, place, work))
            continue;
        const bool around =
            !name.mark && std::find(ranges.begin(), ranges.end(), name.name) != ranges.end();
        if (!best || std::pair(best_is_around, rank(*best)) < std::pair(around, rank(name))) {
            best = &name;
            best_is_around = around;
        }
    }
    return best;
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
