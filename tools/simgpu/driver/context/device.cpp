// tools/simgpu/driver/context/device.cpp — the memory of a simulated device.
#include "tools/simgpu/driver/context/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/share/share.hpp"

namespace simgpu {
namespace {

constexpr std::size_t kWindowPerByte = 4;
constexpr std::size_t kMapStep = std::size_t{64} << 20;
constexpr std::size_t kLowBytes = std::size_t{256} << 20;
// Larger sizes share no block. This is a guess, until it is compared with a GPU.
constexpr std::size_t kLargestSmall = std::size_t{1} << 20;

std::size_t charged_bytes(std::size_t bytes)
{
    return round_up(bytes, kBlockBytes);
}

} // namespace

Device::Device(int ordinal, std::size_t bytes)
    : ordinal_(ordinal), total_bytes_(bytes),
      window_bytes_(round_up(bytes * kWindowPerByte, kBlockBytes))
{
    file_ = make_device_file(ordinal, window_bytes_);
    void* const reserved = mmap(nullptr, window_bytes_ + kBlockBytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (file_ < 0 || reserved == MAP_FAILED) {
        std::fprintf(stderr, "simgpu: cannot reserve %zu bytes of address space for device %d\n",
                     window_bytes_, ordinal);
        window_bytes_ = 0;
        return;
    }
    hidden_window_ = ~round_up(reinterpret_cast<std::uintptr_t>(reserved), kBlockBytes);
    mapped_end_ = window();
    blocks_.give(window(), window_bytes_);
}

// The window is mapped only as far as it was ever used, so that a leak checker or a core dump need
// not walk all of it.
bool Device::map_up_to(std::uintptr_t end)
{
    if (end <= mapped_end_)
        return true;
    const std::uintptr_t target =
        std::min(window() + window_bytes_, window() + round_up(end - window(), kMapStep));
    void* const mapped = mmap(reinterpret_cast<void*>(mapped_end_), target - mapped_end_,
                              PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_,
                              static_cast<off_t>(mapped_end_ - window()));
    if (mapped == MAP_FAILED)
        return false;
    mapped_end_ = target;
    return true;
}

bool Device::charge(std::size_t bytes)
{
    if (bytes > total_bytes_ - used_bytes_)
        return false;
    used_bytes_ += bytes;
    return true;
}

bool Device::take_own(std::size_t bytes)
{
    const std::size_t steps = charged_bytes(own_bytes_ + bytes) - charged_bytes(own_bytes_);
    if (bytes > total_bytes_ || !charge(steps))
        return false;
    own_bytes_ += bytes;
    return true;
}

void Device::give_own(std::size_t bytes)
{
    discharge(charged_bytes(own_bytes_) - charged_bytes(own_bytes_ - bytes));
    own_bytes_ -= bytes;
}

std::size_t Device::bytes_of_others()
{
    constexpr unsigned kMovesOneOf = 16; // times that somebody asks
    const std::size_t steps = neighbour_bytes() / kBlockBytes;
    if (steps != 0 && others_move_() % kMovesOneOf == 0)
        others_bytes_ = others_move_() % (steps + 1) * kBlockBytes;
    return std::min(others_bytes_, total_bytes_ - used_bytes_);
}

std::uintptr_t Device::reserve_blocks(std::size_t bytes)
{
    const auto address = blocks_.take(charged_bytes(bytes), kBlockBytes);
    if (!address)
        return 0;
    if (map_up_to(*address + charged_bytes(bytes)))
        return *address;
    blocks_.give(*address, charged_bytes(bytes));
    return 0;
}

void Device::unreserve_blocks(std::uintptr_t address, std::size_t bytes, bool dirty)
{
    if (dirty)
        fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(address - window()), static_cast<off_t>(charged_bytes(bytes)));
    blocks_.give(address, charged_bytes(bytes));
}

std::uintptr_t Device::take_small(std::size_t bytes)
{
    const std::size_t rounded = round_up(bytes, kSmallStep);
    if (const auto address = small_.take(rounded))
        return *address;
    if (!charge(kBlockBytes))
        return 0;
    const std::uintptr_t block = reserve_blocks(kBlockBytes);
    if (!block) {
        discharge(kBlockBytes);
        return 0;
    }
    small_.give(block + rounded, kBlockBytes - rounded, block, block + kBlockBytes);
    return block;
}

std::uintptr_t Device::take(std::size_t bytes)
{
    if (bytes > total_bytes_)
        return 0;
    if (bytes <= kLargestSmall)
        return take_small(bytes);
    if (!charge(charged_bytes(bytes)))
        return 0;
    const std::uintptr_t address = reserve_blocks(bytes);
    if (!address)
        discharge(charged_bytes(bytes));
    return address;
}

void Device::give(std::uintptr_t address, std::size_t bytes, bool dirty)
{
    if (is_low(address)) {
        low_.give(address, round_up(bytes, kSmallStep));
        discharge(round_up(bytes, kSmallStep));
        return;
    }
    if (bytes > kLargestSmall) {
        discharge(charged_bytes(bytes));
        unreserve_blocks(address, bytes, dirty);
        return;
    }
    const std::uintptr_t block = window() + (address - window()) / kBlockBytes * kBlockBytes;
    const auto merged =
        small_.give(address, round_up(bytes, kSmallStep), block, block + kBlockBytes);
    if (merged.bytes < kBlockBytes)
        return;
    small_.remove(merged);
    discharge(kBlockBytes);
    blocks_.give(block, kBlockBytes);
}

std::uintptr_t Device::take_low(std::size_t bytes)
{
    if (!low_mapped_) {
        void* const mapped = mmap(nullptr, kLowBytes, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
        if (mapped == MAP_FAILED)
            return 0;
        low_mapped_ = true;
        low_.give(reinterpret_cast<std::uintptr_t>(mapped), kLowBytes);
    }
    const std::size_t rounded = round_up(bytes, kSmallStep);
    if (!charge(rounded))
        return 0;
    const auto address = low_.take(rounded);
    if (!address)
        discharge(rounded);
    return address.value_or(0);
}

std::vector<Device*>& devices()
{
    static auto* all = new std::vector<Device*>;
    return *all;
}

Device* device_at(CUdevice ordinal)
{
    const auto& all = devices();
    return ordinal >= 0 && static_cast<std::size_t>(ordinal) < all.size()
               ? all[static_cast<std::size_t>(ordinal)]
               : nullptr;
}

std::mutex& memory_mutex()
{
    static auto* mutex = new std::mutex;
    return *mutex;
}

} // namespace simgpu
