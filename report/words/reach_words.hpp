// report/words/reach_words.hpp — what a search found of some blocks, as a sentence.
#pragma once

#include <string>

#include "report/model/reach.hpp"

namespace vramscope::report {

std::string in_blocks(const ReachSum& sum); // "2 MiB in 3 blocks"

// "2 MiB in 3 blocks, by variable `cache` of train -> a heap block of 64 B"; terminal_safe.
std::string reach_words(const ReachGroup& group);
std::string reach_sentence(const ReachGroup& group); // "held: 2 MiB in 3 blocks, by …"

} // namespace vramscope::report
