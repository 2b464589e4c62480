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
    const std::string from = grouped(taken.objects);
    if (!taken.tells_of_each())
        return fmt::format("took {} to {} of the device, all {} that were measured",
                           human_bytes(taken.least), human_bytes(taken.most), from);
    const std::string most = human_bytes(taken.most_each());
    if (taken.least_each() == 0)
        return fmt::format("takes at most {} each of the device (from {})", most, from);
    const std::string least = human_bytes(taken.least_each());
    return fmt::format("takes at least {} each of the device ({} to {}, from {})", least, least,
                       most, from);
}

} // namespace vramscope::report
