// tools/manual/completions.cpp — see completions.hpp.
#include "tools/manual/completions.hpp"

namespace vramscope::manual {

std::string replaced(std::string_view text, std::string_view from, std::string_view to)
{
    std::string result;
    for (std::size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size()))
        result.append(text.substr(0, at)).append(to);
    return result.append(text);
}

// fish alone reads a backslash between single quotes, before another one and before a quote; none
// of our texts has one there.
std::string as_word(std::string_view text)
{
    return "'" + replaced(text, "'", R"('\'')") + "'";
}

} // namespace vramscope::manual
