// report/model/impossible.hpp — from which size on a request is no request but a mistake.
#pragma once

#include <cstdint>

namespace vramscope::report {

// More than any address of a process reaches: a difference that became negative, say.
inline constexpr std::uint64_t kImpossibleBytes = std::uint64_t{1} << 47;

} // namespace vramscope::report
