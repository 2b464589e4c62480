// tests/programs/frameworks/torch_allocator.cpp — stands in for libc10_cuda: a caching allocator.
//
// Segments of 2 and 20 MiB, or of one large block; blocks of 512 bytes and their multiples, the
// first that fits. As PyTorch's, it tells libc10 while it holds its lock, and gives all free
// segments back before it fails.
#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

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

std::recursive_mutex lock;
std::map<CUdeviceptr, Piece> pieces; // of all segments, by address
std::map<CUdeviceptr, std::size_t> segments;
std::size_t allocated = 0;
std::size_t reserved = 0;

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
    reserved += bytes;
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
    allocated += bytes;
    c10::reportMemoryUsageToProfiler(pointer(address), static_cast<std::int64_t>(bytes), allocated,
                                     reserved, kDevice);
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

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void empty_cache()
{
    const std::lock_guard guard(lock);
    for (auto at = segments.begin(); at != segments.end();) {
        const auto piece = pieces.find(at->first);
        const bool whole = piece->second.free && piece->second.bytes == at->second;
        if (!whole) {
            ++at;
            continue;
        }
        check(cuMemFree_v2(at->first));
        reserved -= at->second;
        pieces.erase(piece);
        at = segments.erase(at);
    }
}

EXPORT void* allocate(std::size_t bytes)
{
    const std::lock_guard guard(lock);
    bytes = std::max<std::size_t>((bytes + 511) / 512 * 512, 512);
    if (!fits(bytes) && !add_segment(bytes)) {
        empty_cache();
        if (!add_segment(bytes)) {
            c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(bytes), allocated, reserved,
                                             kDevice);
            return nullptr;
        }
    }
    return take(bytes);
}

EXPORT void release(void* block)
{
    const std::lock_guard guard(lock);
    const auto found = pieces.find(reinterpret_cast<CUdeviceptr>(block));
    const std::size_t bytes = found->second.bytes;
    found->second.free = true;
    allocated -= bytes;
    join_with_next(found);
    if (found != pieces.begin() && std::prev(found)->second.free)
        join_with_next(std::prev(found));
    c10::reportMemoryUsageToProfiler(block, -static_cast<std::int64_t>(bytes), allocated, reserved,
                                     kDevice);
}

EXPORT void statistics(std::size_t* allocated_bytes, std::size_t* reserved_bytes)
{
    *allocated_bytes = allocated;
    *reserved_bytes = reserved;
}

// Of memory that is not the GPU's: nobody but libc10 wants to know.
EXPORT void allocate_on_host(std::size_t bytes)
{
    const std::lock_guard guard(lock);
    c10::reportMemoryUsageToProfiler(&pieces, static_cast<std::int64_t>(bytes), bytes, bytes,
                                     {c10::DeviceType::CPU, -1});
}
