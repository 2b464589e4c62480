// report/words/object_words.hpp — objects of the driver's, as a person calls them.
#pragma once

#include <string>

#include "report/model/objects.hpp"

namespace vramscope::report {

std::string object_noun(format::Memory object); // "graph exec", "stream"
// "takes at least 61 KiB each of the device (to 66 KiB, from 1,000)"
std::string taken_words(const ObjectBytes& taken);

} // namespace vramscope::report
