// report/findings/places/fingerprint.cpp — FNV-1a over names.
#include "report/findings/places/fingerprint.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "report/fnv1a.hpp"

namespace vramscope::report {
namespace {

constexpr bool is_space(char c) noexcept
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Of "f(int) [clone .isra.0]" and "g[abi:cxx11]()" what the source says, without white space:
// demanglers differ in it.
std::string source_name(std::string_view function)
{
    function = function.substr(0, function.find(" [clone "));
    std::string name;
    name.reserve(function.size() + 1);
    while (!function.empty()) {
        const std::string_view plain = function.substr(0, function.find("[abi:"));
        std::copy_if(plain.begin(), plain.end(), std::back_inserter(name),
                     [](char c) { return !is_space(c); });
        function.remove_prefix(plain.size());
        const std::size_t end = function.find(']');
        function.remove_prefix(end == std::string_view::npos ? function.size() : end + 1);
    }
    return name;
}

// "libtorch.so" of "/opt/lib/libtorch.so.2.1".
std::string_view module_name(std::string_view path)
{
    path = file_name(path);
    const std::size_t suffix = path.find(".so.");
    return suffix == std::string_view::npos ? path : path.substr(0, suffix + 3);
}

// The module tells nothing where the function has a name, and a program may be renamed. In Python
// the file is the module.
std::string normalised(const Frame& frame)
{
    if (frame.python)
        return fmt::format(FMT_COMPILE("{}:{}\n"), file_name(frame.file), frame.function);
    if (frame.function.empty())
        return fmt::format(FMT_COMPILE("{}+{:x}\n"), module_name(frame.module), frame.offset);
    return source_name(frame.short_name.empty() ? frame.function : frame.short_name) + '\n';
}

} // namespace

std::string fingerprint(std::string_view api, std::span<const Frame* const> visible)
{
    Fnv1a hash;
    hash.add(fmt::format(FMT_COMPILE("{}\n"), api));
    if (!visible.empty()) {
        const Frame& inner = *visible.front();
        if (inner.function_line > 0 && inner.line >= inner.function_line)
            hash.add(fmt::format(FMT_COMPILE("{}\n"), inner.line - inner.function_line));
    }
    std::set<std::string> seen; // a recursion counts once, however deep it was
    for (const Frame* const frame : visible) {
        const auto [text, is_new] = seen.insert(normalised(*frame));
        if (is_new)
            hash.add(*text);
    }
    return fmt::format(FMT_COMPILE("{:016x}"), hash.value());
}

} // namespace vramscope::report
