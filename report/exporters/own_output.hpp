// report/exporters/own_output.hpp — how a file that we wrote is told from one that somebody needs.
#pragma once

#include <cstddef>
#include <string_view>

namespace vramscope::report {

// In the page, the heaptrack and the JUnit files a comment, in the pprof file that of its gzip header.
inline constexpr std::string_view kOwnMark = "written by vramscope";

inline constexpr std::size_t kOwnHeadBytes = 256; // enough of a file's beginning to tell

// Whether a file that begins like this is one that --json, --html, `check` or `export` wrote. Logs
// and suppression files are not: those are kept and edited.
bool is_own_output(std::string_view head) noexcept;

} // namespace vramscope::report
