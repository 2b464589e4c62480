// report/words/object_words.hpp — objects of the driver's, as a person calls them.
#pragma once

#include <string>

#include "tracker/format/memory.hpp"

namespace vramscope::report {

std::string object_noun(format::Memory object); // "graph exec", "stream"

} // namespace vramscope::report
