// report/words/shortage_words.hpp — why an allocation was short of memory.
#pragma once

#include <string>

#include "report/model/shortages.hpp"

namespace vramscope::report {

// "12 MiB were free in 3 pieces, the largest 4 MiB; step() train.cu:9 holds them apart"
std::string cause_of(const Shortage& shortage);

} // namespace vramscope::report
