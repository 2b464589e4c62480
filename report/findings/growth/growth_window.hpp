// report/findings/growth/growth_window.hpp — the part of a series that growth is told from.
//
// After the warm-up, which is the first fifth, up to the end of the last step; without steps, up to
// the last allocation of the place itself: what is freed behind it is the end of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "report/findings/growth/growth_rule.hpp"

namespace vramscope::report {

// A floor, and where its span lies: counted in steps or, without them, in floors.
struct WindowSpan {
    double from = 0;
    double to = 0;
    std::uint64_t from_ticks = 0;
    std::uint64_t to_ticks = 0;
    std::uint64_t events = 0;
    double bytes = 0;
    double blocks = 0;
};

struct GrowthWindow {
    std::vector<WindowSpan> spans;
    double begin = 0; // in the unit of WindowSpan::to
    double end = 0;
    std::uint64_t events = 0;     // in the window
    std::uint64_t all_events = 0; // in the window and before it
    bool by_bytes = false;        // false: by blocks, as what it is made of has no bytes

    std::vector<double> values() const;
    double length() const noexcept { return end - begin; }
};

GrowthWindow window_of(const PlaceSeries& place, const GrowthContext& context);

// How many blocks the place had allocated before each span, from `first` on. Of the events of a
// span those are births that leave it with so many blocks more.
std::vector<double> calls_before(const GrowthWindow& window, std::size_t first);

// How far it fell between the end of the window and the end of the program's work.
double fall_behind(const PlaceSeries& place, const GrowthWindow& window,
                   const GrowthContext& context);

// The least of each of at most 16 equal parts of the window; trailing ones that nothing is known of
// are left out.
std::vector<double> bins_of(const GrowthWindow& window, std::span<const double> values);

// A place at which the level rose for good: the beginning of a span.
struct Rises {
    std::uint64_t count = 0;
    std::size_t first = 0; // indexes of spans; never the first one
    std::size_t last = 0;
    double growth = 0;
};

Rises rises_of(std::span<const double> values);

// Where in the program's life a moment is, 0 to 1, by its time and by its allocations.
double time_place(std::uint64_t ticks, const GrowthContext& context);
double allocation_place(std::uint64_t ticks, const GrowthContext& context);
std::uint64_t ns_after(std::uint64_t ticks, const GrowthContext& context);

double share(double part, double whole) noexcept; // 0 to 1; 1 where `whole` is nothing

// Did something that rose stop rising? It is told from where it rose, and how long it then did not.
inline constexpr double kSure = 0.95;
inline constexpr double kTail = 0.1; // share of the work: a longer end without growth is told

// The places at which a lasting level begins that is higher than the one before.
std::vector<std::size_t> rising_spans(std::span<const double> level);

// Whether rises were at these places of an axis, and then none up to its end, for a time that is
// long beside the longest one between two of them.
bool are_over(std::span<const double> rises, double begin, double end);

// Whether it rose at least three times as much in the first half of the window as in the second,
// and then stopped. `rises`: the places where it rose.
bool levelled_off(const GrowthWindow& window, std::span<const double> level,
                  std::span<const double> rises);

} // namespace vramscope::report
