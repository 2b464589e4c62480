// report/words/object_words.cpp — most are called as in the JSON.
#include "report/words/object_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {

std::string object_noun(format::Memory object)
{
    if (object == format::Memory::graph_object)
        return "graph";
    std::string noun = format::name(object);
    std::replace(noun.begin(), noun.end(), '_', ' ');
    return noun;
}

std::string taken_words(const ObjectBytes& taken)
{
    const bool of_each = taken.tells_of_each();
    const std::uint64_t least = of_each ? taken.least_each() : taken.least;
    const std::string most = human_bytes(of_each ? taken.most_each() : taken.most);
    const std::string bytes = least == 0 ? "at most " + most : "at least " + human_bytes(least);
    const std::string range = least == 0 ? "" : "to " + most + ", ";
    const std::string objects = grouped(taken.objects);
    return of_each ? fmt::format("takes {} each of the device ({}from {})", bytes, range, objects)
                   : fmt::format("took {} of the device ({}{} measured)", bytes, range, objects);
}

} // namespace vramscope::report
