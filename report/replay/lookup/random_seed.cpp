// report/replay/lookup/random_seed.cpp — from the system; its header is a large one.
#include "report/replay/lookup/random_seed.hpp"

#include <random>

namespace vramscope::report {

std::uint64_t random_seed()
{
    // Making one asks the processor what it is, which under a hypervisor takes microseconds.
    thread_local std::random_device device;
    return device() | std::uint64_t{device()} << 32;
}

} // namespace vramscope::report
