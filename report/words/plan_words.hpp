// report/words/plan_words.hpp — what a plan says of a policy, of a shortage and of a saving.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/plan/plan.hpp"

namespace vramscope::report {

std::string policy_words(const PlanPolicy& policy); // "torch, as recorded"

// Never less than it is: "3.5 GiB"; "3,600 MiB" where that would be rounded down.
std::string card_words(std::uint64_t bytes);

// The smallest card that fits a policy that has one, told from those that were asked about:
// "4 GiB and 2 MiB".
std::string smallest_card_words(const PlanPolicy& policy, const std::vector<std::uint64_t>& cards);

// Why a request was not served on a device of `card` bytes, `base` of them taken before.
std::string why_short(const PlanShortage& shortage, std::uint64_t card, std::uint64_t base);

std::string change_of(const PlanSaving& saving); // "released when range step is over"

// "3 GiB and 64 MiB for each of batch, give or take 1 MiB"
std::string line_words(const PlanLine& line, const std::string& dimension);

// What a plan does not rest on: what of the run is missing, what is not known, what is a guess.
struct PlanSentence {
    std::string about; // "Not known"
    std::string text;

    bool operator==(const PlanSentence& other) const = default;
};
std::vector<PlanSentence> sentences_about(const Plan& plan); // each once

std::string signed_bytes(double bytes); // what a line says may be below zero: "-64 KiB"

} // namespace vramscope::report
