// tests/programs/process/throws.cpp — throws through its own frames between allocations.
//
// Nothing may be left half done.
//
// Usage: throws. Prints what it caught.
#include <stdexcept>

#include "tests/programs/driver_program.hpp"

namespace {

struct Block {
    CUdeviceptr address = 0;
    Block() { check(cuMemAlloc_v2(&address, 1000)); }
    ~Block() { check(cuMemFree_v2(address)); }
};

[[gnu::noinline]] void descend(int depth)
{
    const Block block;
    if (depth == 0)
        throw std::runtime_error("at the bottom");
    descend(depth - 1);
    std::puts("never reached"); // keeps the call from being a jump
}

} // namespace

int main()
{
    primary_context();
    for (int round = 0; round < 100; ++round)
        try {
            descend(10);
        } catch (const std::runtime_error& error) {
            if (round == 99)
                std::printf("caught: %s\n", error.what());
        }
    return 0;
}
