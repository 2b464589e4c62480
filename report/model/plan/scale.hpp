// report/model/plan/scale.hpp — what a series of runs needs, in which one number changed.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "report/model/plan/device.hpp"

namespace vramscope::report {

// The peak, or what one call stack had of it, over the runs of --scale: fixed + each * x.
struct PlanLine {
    double fixed = 0; // bytes
    double each = 0;  // bytes for one more of the dimension
    double error = 0; // standard error of what the line says at a run, in bytes; 0: two runs alone
    std::uint64_t spare_runs = 0; // beyond the two that any line goes through
    bool straight = true;         // it comes near all runs: within a tenth of how they differ

    // What the error may be in 95 of 100 cases, in bytes; 0: two runs do not tell.
    double most_off() const noexcept
    {
        // Student's t at 0.975.
        constexpr double kT[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
        const std::uint64_t at = spare_runs - 1;
        return spare_runs == 0 ? 0 : error * (at < std::size(kT) ? kT[at] : 2.0);
    }
};
template <>
struct Fields<PlanLine> {
    static constexpr const char* kName = "line";
    static constexpr const char* kSays = "fixed + each * x, by least squares.";
    static constexpr FieldList kAll{
        Field{"fixed_bytes", &PlanLine::fixed},
        Field{"each_bytes", &PlanLine::each},
        Field{"error_bytes", &PlanLine::error,
              "Standard error of what the line says; 0 of two runs."}
            .at_least(0),
        Field{"straight", &PlanLine::straight,
              "It comes near all runs: within a tenth of how they differ."}
            .since(6),
    };
};
struct PlanScaledStack : CallPlace {
    PlanLine line;
    std::vector<std::uint64_t> bytes; // in the order of the runs
};
template <>
struct Fields<PlanScaledStack> {
    static constexpr const char* kName = "scaled_stack";
    static constexpr auto kAll = joined(
        FieldList{Field{"line", &PlanScaledStack::line}, Field{"bytes", &PlanScaledStack::bytes}},
        kPlace);
};
struct PlanScaledCard {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> largest; // of the dimension; nothing: see the JSON's words
    // What it is in 95 of 100 cases; nothing: two runs do not tell.
    std::optional<std::uint64_t> least;
    std::optional<std::uint64_t> most;
};
template <>
struct Fields<PlanScaledCard> {
    static constexpr const char* kName = "scaled_card";
    static constexpr FieldList kAll{
        Field{"bytes", &PlanScaledCard::bytes},
        Field{
            "largest", &PlanScaledCard::largest,
            "The largest value that fits; null: none does, or there is no end, or the runs lie on "
            "no line."},
        Field{"least", &PlanScaledCard::least,
              "What it is in 95 of 100 cases; null: two runs do not tell."},
        Field{"most", &PlanScaledCard::most},
    };
};
struct PlanScale {
    std::string dimension; // "batch"
    std::vector<std::uint64_t> values;
    std::vector<std::uint64_t> live;     // peaks of each run
    std::vector<std::uint64_t> reserved; // under the policy that is judged, with base and beside
    PlanLine live_line;
    PlanLine reserved_line;
    std::vector<PlanScaledStack> stacks; // those that grow most first
    std::vector<PlanScaledCard> cards;
};
template <>
struct Fields<PlanScale> {
    static constexpr const char* kName = "scale";
    static constexpr const char* kSays = "A series of runs in which one number changed.";
    static constexpr FieldList kAll{
        Field{"dimension", &PlanScale::dimension}.not_empty(),
        Field{"values", &PlanScale::values, "In the order of the logs, as are the lists of bytes."}
            .rows_at_least(2),
        Field{"live_bytes", &PlanScale::live},
        Field{"card_bytes", &PlanScale::reserved,
              "The smallest card under the first policy; where none was found, what is reserved at "
              "most."},
        Field{"live_line", &PlanScale::live_line},
        Field{"card_line", &PlanScale::reserved_line},
        Field{"stacks", &PlanScale::stacks,
              "What each call stack had at the peaks, those that grow most first."},
        Field{"cards", &PlanScale::cards},
    };
};

} // namespace vramscope::report
