// report/words/growth_words.hpp — how fast something grows, as a person reads it.
#pragma once

#include <string>

namespace vramscope::report {

struct GrowthRate;

// "64 KiB per step"; of what has no bytes, "1.5 of them per step".
std::string rate_words(const GrowthRate& rate);

} // namespace vramscope::report
