// report/words/object_words.cpp — most are called as in the JSON.
#include "report/words/object_words.hpp"

#include <algorithm>

namespace vramscope::report {

std::string object_noun(format::Memory object)
{
    if (object == format::Memory::graph_object)
        return "graph";
    std::string noun = format::name(object);
    std::replace(noun.begin(), noun.end(), '_', ' ');
    return noun;
}

} // namespace vramscope::report
