// report/symbols/python_lines.hpp — which line of its file an instruction of Python is from.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracker/format/enumerations.hpp"

namespace vramscope::report {

// `offset` counts bytes of the bytecode. The table may be hostile. 0: it does not say.
int python_line(format::LineTable table, std::string_view bytes, std::uint64_t first_line,
                std::uint64_t offset) noexcept;

} // namespace vramscope::report
