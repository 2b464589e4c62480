// report/words/growth_words.hpp — how fast something grows, as a person reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::report {

struct GrowthRate;

// "allocation" for "call", which is where no steps are; else the name of the step.
std::string step_noun(std::string_view step);

// "64 KiB per step"; of what has no bytes, "1.5 of them per step".
std::string rate_words(const GrowthRate& rate);

// "99.4 %". Never more than is known: what is not wholly sure is not 100 %.
std::string percent_sure(const GrowthRate& rate);

// "since 14:02, 99.4 % sure", by this machine's clock; with the date, where that is not today.
std::string since_words(const GrowthRate& rate, std::uint64_t opened_real_ns);

} // namespace vramscope::report
