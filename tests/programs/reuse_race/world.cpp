// tests/programs/reuse_race/world.cpp — hand out, check and take back memory; contexts.
#include "tests/programs/reuse_race/world.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

#include "tools/simgpu/simgpu.h"

namespace reuse_race {

thread_local Where where;

void fail(const char* format, ...)
{
    std::fprintf(stderr, "reuse_race: seed %u actor %u step %u: ", where.seed, where.actor,
                 where.step);
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
    std::fflush(nullptr);
    ::_exit(1); // other threads still run
}

void expect(CUresult wanted, CUresult got, const char* call)
{
    if (got != wanted)
        fail("%s answered %d, not %d", call, static_cast<int>(got), static_cast<int>(wanted));
}

namespace {

template <class Function>
Function* simulated(Function*, const char* name)
{
    void* const found = dlsym(RTLD_DEFAULT, name);
    if (!found)
        fail("no %s: this is not the simulated driver", name);
    return reinterpret_cast<Function*>(found);
}

unsigned long long pending_uses(CUdeviceptr address, std::size_t bytes)
{
    static auto* const count = simulated(&simgpu_pending_uses, "simgpu_pending_uses");
    return count(address, bytes);
}

CUfunction load_kernel()
{
    static auto* const set = simulated(&simgpu_set_kernel, "simgpu_set_kernel");
    static auto* const range = simulated(&simgpu_set_kernel_range, "simgpu_set_kernel_range");
    const std::size_t sizes[] = {sizeof(CUdeviceptr), sizeof(std::size_t)};
    set(
        "uses_memory", [](const unsigned*, const unsigned*, unsigned, void**) {}, 2, sizes);
    range("uses_memory", 0, 1);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    MUST(cuModuleLoadData(&module, "an image"));
    MUST(cuModuleGetFunction(&function, module, "uses_memory"));
    return function;
}

} // namespace

World::World(Plant plant) : plant_(plant)
{
    check(cuInit(0));
    int devices = 0;
    check(cuDeviceGetCount(&devices));
    if (devices < 2)
        fail("needs two devices");
    places[1] = {nullptr, 1, true, true, nullptr, 0};
    places[0].primary = true;
    places[kWorker].device = 1;
    places[kWorker].allocates = false;
    for (unsigned place = 0; place < kPlaces; ++place)
        open_context(place);
    make_current(0);
    void* pinned = nullptr;
    MUST(cuMemHostAlloc(&pinned, kSinkBytes, CU_MEMHOSTALLOC_PORTABLE));
    sink = static_cast<char*>(pinned);
}

void World::make_current(unsigned place)
{
    MUST(cuCtxSetCurrent(places[place].context));
}

void World::open_context(unsigned place)
{
    Place& opened = places[place];
    if (opened.primary) {
        MUST(cuDevicePrimaryCtxRetain(&opened.context, opened.device));
    } else {
        MUST(cuCtxCreate_v2(&opened.context, 0, opened.device));
        CUcontext popped = nullptr;
        MUST(cuCtxPopCurrent_v2(&popped));
    }
    opened.peers = 0;
    for (Place& other : places)
        other.peers &= ~(1U << place);
    make_current(place);
    opened.kernel = load_kernel();
}

void World::synchronise_all()
{
    for (unsigned place = 0; place < kPlaces; ++place) {
        make_current(place);
        MUST(cuCtxSynchronize());
    }
}

// Nothing queued may touch it, and nothing that lives may overlap it.
void World::check_new(CUdeviceptr address, std::size_t bytes)
{
    static auto* const describe =
        simulated(&simgpu_describe_pending_use, "simgpu_describe_pending_use");
    char use[200] = "";
    if (const auto uses = describe(address, bytes, use, sizeof use))
        fail("%zu bytes at 0x%llx were handed out while in use (%llu): %s", bytes, address, uses,
             use);
    if (address % 256 != 0)
        fail("0x%llx is not aligned", address);
    CUdeviceptr base = 0;
    std::size_t range = 0;
    MUST(cuMemGetAddressRange_v2(&base, &range, address));
    if (base != address || range != bytes)
        fail("%zu bytes at 0x%llx: the range is %zu bytes at 0x%llx", bytes, address, range, base);
}

void World::enter(CUdeviceptr address, std::size_t bytes)
{
    const std::lock_guard lock(mutex_);
    const auto after = live_.lower_bound(address);
    if (after != live_.end() && after->first < address + bytes)
        fail("%zu bytes at 0x%llx reach into the block at 0x%llx", bytes, address, after->first);
    if (after != live_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second > address)
            fail("%zu bytes at 0x%llx lie in the block at 0x%llx", bytes, address, before->first);
    }
    live_[address] = bytes;
}

void World::leave(CUdeviceptr address)
{
    const std::lock_guard lock(mutex_);
    live_.erase(address);
}

CUdeviceptr World::take_kept(std::size_t bytes)
{
    if (plant_ == Plant::overlap)
        synchronise_all();
    const std::lock_guard lock(mutex_);
    const auto kept = kept_.find(bytes);
    if (kept == kept_.end())
        return 0;
    const CUdeviceptr address = kept->second;
    kept_.erase(kept);
    return address;
}

BlockPtr World::allocate(unsigned place, std::size_t bytes)
{
    auto block = std::make_shared<Block>();
    block->bytes = bytes;
    block->place = place;
    block->address = take_kept(bytes);
    if (block->address == 0) {
        const CUresult result = cuMemAlloc_v2(&block->address, bytes);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            ++counts.refused;
            return nullptr;
        }
        expect(CUDA_SUCCESS, result, "cuMemAlloc");
    }
    ++counts.allocations;
    check_new(block->address, bytes);
    enter(block->address, bytes);
    return block;
}

void World::free(BlockPtr block, CUresult expected)
{
    if (block->graphs > 0 && expected == CUDA_SUCCESS) {
        put_back(std::move(block));
        return;
    }
    if (pending_uses(block->address, block->bytes) > 0)
        ++counts.busy_frees;
    const bool kept = plant_ == Plant::no_wait || plant_ == Plant::overlap;
    if (kept && expected == CUDA_SUCCESS) {
        if (plant_ == Plant::overlap) // freed, and held all the same
            put_back(block);
        else
            leave(block->address);
        const std::lock_guard lock(mutex_);
        kept_.emplace(block->bytes, block->address);
        return;
    }
    // Before the call: another thread may be given the same address during it.
    leave(block->address);
    const CUresult result = cuMemFree_v2(block->address);
    expect(expected, result, "cuMemFree");
    if (result == CUDA_SUCCESS) {
        if (block->filled)
            MUST(cuEventDestroy_v2(block->filled));
        return;
    }
    enter(block->address, block->bytes);
    put_back(std::move(block));
}

void World::free_in_order(BlockPtr block, CUstream stream)
{
    leave(block->address);
    MUST(cuMemFreeAsync(block->address, stream));
    if (block->filled)
        MUST(cuEventDestroy_v2(block->filled));
    ++counts.stream_frees;
}

void World::put_back(BlockPtr block)
{
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(block));
}

void World::forget(unsigned place)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [&](const BlockPtr& block) {
        if (block->place == place)
            live_.erase(block->address);
        return block->place == place;
    });
}

std::size_t World::block_count()
{
    const std::lock_guard lock(mutex_);
    return blocks_.size();
}

void World::verify(const Block& block)
{
    if (!block.filled)
        return;
    MUST(cuEventSynchronize(block.filled));
    if (plant_ == Plant::clobber)
        MUST(cuMemsetD8_v2(block.address + block.part() - 1, 0, 1));
    for (const std::size_t at : {std::size_t{0}, block.part() / 2, block.part() - 1}) {
        unsigned char found = 0;
        MUST(cuMemcpyDtoH_v2(&found, block.address + at, 1));
        if (found != block.value)
            fail("byte %zu of the %zu at 0x%llx is %d, not %d", at, block.bytes, block.address,
                 found, block.value);
    }
}

} // namespace reuse_race
