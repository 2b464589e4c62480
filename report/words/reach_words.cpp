// report/words/reach_words.cpp — verdicts and what holds blocks, as lines have them.
#include "report/words/reach_words.hpp"

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {

std::string in_blocks(const ReachSum& sum)
{
    return fmt::format("{} in {}", human_bytes(sum.bytes), counted(sum.blocks, "block"));
}

std::string reach_words(const ReachGroup& group)
{
    return in_blocks(group.sum) + ", " + terminal_safe(group.how());
}

std::string reach_sentence(const ReachGroup& group)
{
    return fmt::format("{}: {}", name(group.verdict), reach_words(group));
}

} // namespace vramscope::report
