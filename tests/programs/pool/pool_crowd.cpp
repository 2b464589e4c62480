// tests/programs/pool/pool_crowd.cpp — threads that together fit on the device, and are short of what
// the others' freed blocks take.
//
// Usage: pool_crowd SCENE, on a device of 256 MiB.
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "tests/programs/scenes.hpp"

namespace {

CUresult pooled(CUdeviceptr& block, std::size_t bytes)
{
    return cuMemAlloc_v2(&block, bytes);
}

CUresult pitched(CUdeviceptr& block, std::size_t bytes)
{
    std::size_t row = 0;
    return cuMemAllocPitch_v2(&block, &row, kMiB, bytes / kMiB, 16);
}

// Threads that together never want more than there is, each time of another size: what one frees
// the pool keeps, while another is short of it. Half of the threads ask by `other`; or, in turn,
// each thread half of the time.
void crowd_by(CUresult (*other)(CUdeviceptr&, std::size_t), bool takes_turns = false)
{
    constexpr unsigned kThreads = 4;
    const CUcontext context = primary_context();
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < kThreads; ++seed)
        threads.emplace_back([&refused, context, seed, other, takes_turns] {
            std::minstd_rand random(seed + 1);
            check(cuCtxSetCurrent(context));
            CUdeviceptr held = 0;
            for (unsigned i = 0; i < 300; ++i) {
                const auto allocate = (seed + (takes_turns ? i : 0)) % 2 ? other : pooled;
                CUdeviceptr block = 0;
                const std::size_t bytes =
                    (1 + random() % 15) * 2 * kMiB; // two of each size make 240 MiB
                if (allocate(block, bytes) != CUDA_SUCCESS)
                    ++refused;
                check(cuMemFree_v2(held));
                held = block;
            }
            check(cuMemFree_v2(held));
        });
    for (std::thread& thread : threads)
        thread.join();
    std::printf("refused %d\n", refused.load());
}

void alike()
{
    crowd_by(pooled);
}

// Half of the threads ask for what no pool serves.
void of_kinds()
{
    crowd_by(pitched);
}

void in_turn()
{
    crowd_by(pitched, true);
}

const Scene kScenes[] = {
    {"alike", alike},
    {"of_kinds", of_kinds},
    {"in_turn", in_turn},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
