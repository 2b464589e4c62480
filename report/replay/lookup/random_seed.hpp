// report/replay/lookup/random_seed.hpp — a number that the writer of a log cannot know.
#pragma once

#include <cstdint>

namespace vramscope::report {

std::uint64_t random_seed();

} // namespace vramscope::report
