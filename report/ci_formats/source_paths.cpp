// report/ci_formats/source_paths.cpp — paths cut at the repository's root.
#include "report/ci_formats/source_paths.hpp"

#include <fmt/format.h>

#include "report/model/call_place.hpp"

namespace vramscope::report {
namespace fs = std::filesystem;

SourcePaths::SourcePaths(const fs::path& root)
    : root_((root / "").lexically_normal().generic_string())
{
}

std::optional<std::string> SourcePaths::below_root(std::string_view file) const
{
    if (file.empty())
        return std::nullopt;
    const std::string path = fs::path(file).lexically_normal().generic_string();
    if (path.starts_with('/'))
        return path.starts_with(root_) && path.size() > root_.size()
                   ? std::optional(path.substr(root_.size()))
                   : std::nullopt;
    return path == ".." || path.starts_with("../") ? std::nullopt : std::optional(path);
}

SourcePlace SourcePaths::of_file(const std::string& file, int line) const
{
    if (const auto below = below_root(file))
        return {*below, line, true};
    return {file, line, false};
}

SourcePlace SourcePaths::of_frame(const Frame& frame) const
{
    return frame.file.empty() ? of_file(frame.module, 0) : of_file(frame.file, frame.line);
}

SourcePlace SourcePaths::of(const CallPlace& call) const
{
    for (std::size_t at = call.own; at < call.stack.size(); ++at)
        if (const auto below = below_root(call.stack[at].file))
            return {*below, call.stack[at].line, true};
    for (const Frame& frame : call.stack)
        if (!frame.file.empty())
            return of_frame(frame);
    const Frame* const own = call.own_frame();
    return own ? of_frame(*own) : SourcePlace{};
}

std::string uri_of(const SourcePlace& place)
{
    std::string uri = place.in_root ? "" : "file://";
    for (const char c : place.path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') ||
                           std::string_view("-._~/+").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

} // namespace vramscope::report
