// report/findings/growth/chosen_steps.cpp — names of ranges and marks are held against the work.
#include "report/findings/growth/chosen_steps.hpp"

#include <algorithm>
#include <tuple>

#include "report/findings/growth/growth_window.hpp"
#include "report/findings/growth/step_names.hpp"

namespace vramscope::report {
namespace {

constexpr std::uint64_t kMany = 16; // so many instances tell a trend

std::uint64_t covered(const StepName& name) noexcept
{
    return name.counter.last_ticks() - name.counter.begin_ticks();
}

bool may_be_steps(const StepName& name)
{
    return name.counter.count() >= kFewestSteps && !is_of_cccl(name.name) &&
           !says_preparation(name.name);
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

// Births and deaths up to a moment. Those of a span lie evenly in it.
double events_by(const PlaceSeries& place, std::uint64_t ticks)
{
    double events = 0;
    std::uint64_t from = place.first_ticks;
    for (const Floor& floor : place.floors) {
        if (floor.ticks > ticks) {
            const std::uint64_t passed = ticks - std::min(from, ticks);
            return events + floor.events * share(static_cast<double>(passed),
                                                 static_cast<double>(floor.ticks - from));
        }
        events += floor.events;
        from = floor.ticks;
    }
    return events;
}

// What happened up to the first of some steps, up to the end of the last, and in all: more of it
// came behind them than in them, and that is a large part.
bool most_came_behind(double by_begin, double by_end, double all)
{
    constexpr double kLargePart = 0.25;
    const double behind = all - by_end;
    return behind > by_end - by_begin && behind >= kLargePart * all;
}

// Of a program that goes on without them.
bool are_a_part_of(const Work& work, const StepCounter& steps)
{
    return most_came_behind(work.allocations.at(steps.begin_ticks()),
                            work.allocations.at(steps.last_ticks()),
                            static_cast<double>(work.allocations.count()));
}

// Of the life of a place that began before them, unless they were over early. What belongs to an
// evaluation after a training is no such place.
bool are_a_part_of(const PlaceSeries& place, const StepCounter& steps, const Work& work)
{
    const auto by = [&](std::uint64_t ticks) {
        return events_by(place, std::min(ticks, place.last_ticks));
    };
    return most_came_behind(by(steps.begin_ticks()), by(steps.last_ticks()), by(UINT64_MAX)) &&
           (place.first_ticks < steps.begin_ticks() || were_over_early(steps, work));
}

} // namespace

bool ChosenSteps::Candidate::operator<(const Candidate& other) const noexcept
{
    const auto worth = [](const Candidate& candidate) {
        const std::uint64_t count = candidate.steps->counter.count();
        const auto inner = static_cast<std::int64_t>(candidate.steps->depth);
        return std::tuple(candidate.says_step, count >= kMany, -inner, count,
                          !candidate.steps->mark);
    };
    return worth(*this) > worth(other);
}

ChosenSteps::ChosenSteps(const Steps& steps, const Work& work) : work_(work)
{
    std::uint64_t most_covered = 0;
    for (const StepName& name : steps.all())
        if (may_be_steps(name))
            most_covered = std::max(most_covered, covered(name));
    for (const StepName& name : steps.all())
        if (covered(name) >= most_covered / 2 && may_be_steps(name))
            candidates_.push_back(
                {&name, says_step(name.name), is_in_both_halves(name.counter, work)});
    std::stable_sort(candidates_.begin(), candidates_.end());
}

const StepName* ChosenSteps::best() const noexcept
{
    for (const Candidate& candidate : candidates_)
        if (candidate.tells() && !are_a_part_of(work_, candidate.steps->counter))
            return candidate.steps;
    return nullptr;
}

bool ChosenSteps::any() const noexcept
{
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [](const Candidate& candidate) { return candidate.tells(); });
}

const StepName* ChosenSteps::best_of(const PlaceSeries& place,
                                     std::span<const std::string> ranges) const
{
    const StepName* best = nullptr;
    for (const Candidate& candidate : candidates_) {
        const StepName& steps = *candidate.steps;
        const bool around =
            !steps.mark && std::find(ranges.begin(), ranges.end(), steps.name) != ranges.end();
        if ((around || !best) && suits(candidate, place)) {
            best = &steps;
            if (around)
                break;
        }
    }
    return best;
}

bool ChosenSteps::suits(const Candidate& candidate, const PlaceSeries& place) const
{
    const StepCounter& counter = candidate.steps->counter;
    if (are_a_part_of(place, counter, work_))
        return false;
    if (place.last_ticks <= counter.begin_ticks())
        return candidate.says_step > 0 || place.prepares;
    return candidate.tells();
}

} // namespace vramscope::report
