// report/findings/places/fingerprint.cpp — FNV-1a over names.
#include "report/findings/places/fingerprint.hpp"

#include <cctype>
#include <cstdint>
#include <set>
#include <string>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "report/fnv1a.hpp"

namespace vramscope::report {
namespace {

// Of "f(int) [clone .isra.0]" and "g[abi:cxx11]()" what the source says, without white space:
// demanglers differ in it.
std::string source_name(std::string_view function)
{
    function = function.substr(0, function.find(" [clone "));
    std::string name;
    while (!function.empty()) {
        if (function.starts_with("[abi:")) {
            const std::size_t end = function.find(']');
            function.remove_prefix(end == std::string_view::npos ? function.size() : end + 1);
            continue;
        }
        if (std::isspace(static_cast<unsigned char>(function.front())) == 0)
            name += function.front();
        function.remove_prefix(1);
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

std::string fingerprint(std::string_view api, std::span<const Frame> visible)
{
    Fnv1a hash;
    hash.add(fmt::format(FMT_COMPILE("{}\n"), api));
    if (!visible.empty()) {
        const Frame& inner = visible.front();
        if (inner.function_line > 0 && inner.line >= inner.function_line)
            hash.add(fmt::format(FMT_COMPILE("{}\n"), inner.line - inner.function_line));
    }
    std::set<std::string> seen; // a recursion counts once, however deep it was
    for (const Frame& frame : visible) {
        const auto [text, is_new] = seen.insert(normalised(frame));
        if (is_new)
            hash.add(*text);
    }
    return fmt::format(FMT_COMPILE("{:016x}"), hash.value());
}

} // namespace vramscope::report
