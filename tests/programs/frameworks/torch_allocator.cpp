// tests/programs/frameworks/torch_allocator.cpp — stands in for libc10_cuda: a caching allocator.
//
// Segments of 2 and 20 MiB, or of one large block; blocks of 512 bytes and their multiples, the
// first that fits. As PyTorch's, it tells libc10 while it holds its lock, and gives all free
// segments back before it fails. What it counts lies where PyTorch's counters do; with OTHER_COUNTS
// it does not.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tests/programs/driver_program.hpp"
#include "tests/programs/frameworks/torch_api.hpp"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr c10::Device kDevice{c10::DeviceType::CUDA, 0};

struct Piece {
    std::size_t bytes;
    CUdeviceptr segment;
    bool free;
};

struct Count {
    std::int64_t current;
    std::int64_t peak;
    std::int64_t allocated;
    std::int64_t freed;
#ifdef OTHER_COUNTS
    std::int64_t mean;
#endif

    void add(std::int64_t bytes)
    {
        current += bytes;
        peak = std::max(peak, current);
        (bytes > 0 ? allocated : freed) += bytes > 0 ? bytes : -bytes;
    }
};
struct Counts { // all blocks, small ones, large ones
    Count of[3];

    void add(std::size_t bytes, int sign = 1)
    {
        for (const std::size_t kind : {std::size_t{0}, bytes <= kMiB ? std::size_t{1} : 2})
            of[kind].add(sign * static_cast<std::int64_t>(bytes));
    }
    std::size_t current() const { return static_cast<std::size_t>(of[0].current); }
};

struct OneDevice {
    std::recursive_mutex lock;
    Counts blocks, segments, active_blocks, split_blocks;
    Counts allocated, reserved, active, split, requested;
};

} // namespace

namespace c10::cuda::CUDACachingAllocator {

struct CUDAAllocator {
    virtual ~CUDAAllocator() = default;
    std::mutex locks[100];
    std::vector<std::unique_ptr<OneDevice>> devices;
};

namespace {
CUDAAllocator native;
}
extern __attribute__((visibility("default"))) std::atomic<CUDAAllocator*> allocator;
std::atomic<CUDAAllocator*> allocator{&native};

} // namespace c10::cuda::CUDACachingAllocator

namespace {

std::map<CUdeviceptr, Piece> pieces; // those of all segments, by address
std::map<CUdeviceptr, std::size_t> segments;
std::set<CUdeviceptr> used_elsewhere;
std::set<CUdeviceptr> pending; // given back, and used elsewhere

OneDevice& device()
{
    auto& devices = c10::cuda::CUDACachingAllocator::native.devices;
    if (devices.empty())
        devices.push_back(std::make_unique<OneDevice>());
    return *devices.front();
}

void* pointer(CUdeviceptr address)
{
    return reinterpret_cast<void*>(address);
}

bool add_segment(std::size_t bytes)
{
    bytes = bytes <= kMiB       ? 2 * kMiB
            : bytes < 10 * kMiB ? 20 * kMiB
                                : (bytes + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
    CUdeviceptr address = 0;
    if (cuMemAlloc_v2(&address, bytes) != CUDA_SUCCESS)
        return false;
    segments[address] = bytes;
    pieces[address] = {bytes, address, true};
    device().reserved.add(bytes);
    return true;
}

auto first_that_fits(std::size_t bytes)
{
    return std::find_if(pieces.begin(), pieces.end(), [&](const auto& entry) {
        return entry.second.free && entry.second.bytes >= bytes;
    });
}

bool fits(std::size_t bytes)
{
    return first_that_fits(bytes) != pieces.end();
}

void* take(std::size_t bytes)
{
    const auto found = first_that_fits(bytes);
    auto& [address, piece] = *found;
    if (piece.bytes > bytes)
        pieces[address + bytes] = {piece.bytes - bytes, piece.segment, true};
    piece.bytes = bytes;
    piece.free = false;
    device().allocated.add(bytes);
    device().active.add(bytes);
    c10::reportMemoryUsageToProfiler(pointer(address), static_cast<std::int64_t>(bytes),
                                     device().allocated.current(), device().reserved.current(),
                                     kDevice);
    return pointer(address);
}

void join_with_next(std::map<CUdeviceptr, Piece>::iterator at)
{
    const auto next = std::next(at);
    if (next == pieces.end() || !next->second.free || next->second.segment != at->second.segment)
        return;
    at->second.bytes += next->second.bytes;
    pieces.erase(next);
}

void set_free(std::map<CUdeviceptr, Piece>::iterator at)
{
    at->second.free = true;
    device().active.add(at->second.bytes, -1);
    join_with_next(at);
    if (at != pieces.begin() && std::prev(at)->second.free)
        join_with_next(std::prev(at));
}

// The other stream has come past them.
void set_pending_free()
{
    for (const CUdeviceptr block : pending)
        set_free(pieces.find(block));
    pending.clear();
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void empty_cache()
{
    const std::lock_guard guard(device().lock);
    set_pending_free();
    for (auto at = segments.begin(); at != segments.end();) {
        const auto piece = pieces.find(at->first);
        const bool whole = piece->second.free && piece->second.bytes == at->second;
        if (!whole) {
            ++at;
            continue;
        }
        check(cuMemFree_v2(at->first));
        device().reserved.add(at->second, -1);
        pieces.erase(piece);
        at = segments.erase(at);
    }
}

EXPORT void* allocate(std::size_t bytes)
{
    const std::lock_guard guard(device().lock);
    bytes = std::max<std::size_t>((bytes + 511) / 512 * 512, 512);
    if (!fits(bytes) && !add_segment(bytes)) {
        empty_cache();
        if (!add_segment(bytes)) {
            c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(bytes),
                                             device().allocated.current(),
                                             device().reserved.current(), kDevice);
            return nullptr;
        }
    }
    return take(bytes);
}

EXPORT void release(void* block)
{
    const std::lock_guard guard(device().lock);
    const auto found = pieces.find(reinterpret_cast<CUdeviceptr>(block));
    const std::size_t bytes = found->second.bytes;
    device().allocated.add(bytes, -1);
    if (used_elsewhere.erase(found->first))
        pending.insert(found->first);
    else
        set_free(found);
    c10::reportMemoryUsageToProfiler(block, -static_cast<std::int64_t>(bytes),
                                     device().allocated.current(), device().reserved.current(),
                                     kDevice);
}

// Another stream uses the block. Once it is given back, that stream comes past it at pass_streams.
EXPORT void use_elsewhere(void* block)
{
    used_elsewhere.insert(reinterpret_cast<CUdeviceptr>(block));
}
EXPORT void pass_streams()
{
    const std::lock_guard guard(device().lock);
    set_pending_free();
}

// Bytes allocated, reserved and active, and the most that were active.
EXPORT void statistics(std::size_t* bytes)
{
    const OneDevice& counted = device();
    bytes[0] = counted.allocated.current();
    bytes[1] = counted.reserved.current();
    bytes[2] = counted.active.current();
    bytes[3] = static_cast<std::size_t>(counted.active.of[0].peak);
}

// Memory that is not the GPU's: only libc10 wants to know of it.
EXPORT void allocate_on_host(std::size_t bytes)
{
    const std::lock_guard guard(device().lock);
    c10::reportMemoryUsageToProfiler(&pieces, static_cast<std::int64_t>(bytes), bytes, bytes,
                                     {c10::DeviceType::CPU, -1});
}
