// report/words/cuda_results.hpp — the names of CUresult numbers, without the driver's header.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope::report {

// "CUDA_ERROR_OUT_OF_MEMORY"; of a number that is not known here, "CUresult 1234".
std::string result_name(std::uint64_t result);

} // namespace vramscope::report
