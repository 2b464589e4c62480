// tests/programs/pool/pool_damage.cpp — writes into memory after its free, or beyond its end.
//
// Usage: pool_damage SCENE.
#include <initializer_list>

#include "tests/programs/scenes.hpp"

namespace {

// As good as any kernel: it writes on the device, in stream order.
void write(CUdeviceptr at, std::size_t bytes)
{
    check(cuMemsetD8_v2(at, 0x77, bytes));
    check(cuCtxSynchronize());
}

CUdeviceptr victim(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK victim
    return block;
}

void use_again(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK next_tenant
    check(cuMemFree_v2(block));
}

// The driver took the memory away, or the pool has it: the write is wrong either way.
void after_free()
{
    const CUdeviceptr block = victim(kWhole);
    check(cuMemFree_v2(block)); // MARK freed
    cuMemsetD8_v2(block + 1000, 0x77, 24);
    cuCtxSynchronize();
    use_again(kWhole);
}

void overrun()
{
    const CUdeviceptr block = victim(3000);
    write(block + 2990, 14);    // it ends 4 bytes too far
    check(cuMemFree_v2(block)); // MARK overrun_found
    use_again(3000);
}

void underrun()
{
    const CUdeviceptr block = victim(3000);
    write(block - 8, 8);
    check(cuMemFree_v2(block)); // MARK underrun_found
    use_again(3000);
}

void all_is_well()
{
    for (const std::size_t bytes : {kWhole, kPart, std::size_t{3000}})
        for (int i = 0; i < 3; ++i) {
            const CUdeviceptr blocks[] = {victim(bytes), victim(bytes)};
            write(blocks[0], bytes);
            write(blocks[1], bytes);
            check(cuMemFree_v2(blocks[0]));
            check(cuMemFree_v2(blocks[1]));
        }
    std::printf("done\n");
}

const Scene kScenes[] = {
    {"after_free", after_free},
    {"overrun", overrun},
    {"underrun", underrun},
    {"all_is_well", all_is_well},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
