// tools/simgpu/driver/context/device.hpp — one simulated device and its memory.
//
// Its memory is a sparse file that is mapped at one fixed window. A device address is an address of
// this process: the base of the window plus the offset in the file. The window is wider than the
// device, so that only the byte counter says "out of memory", never an unlucky layout, as a GPU
// scatters its pages. Small sizes share 2 MiB blocks in steps of 512 B; larger ones take whole
// blocks. All of it is under memory_mutex().
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tools/simgpu/driver/base/cuda.hpp"
#include "tools/simgpu/driver/base/free_ranges.hpp"

namespace simgpu {

inline constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
inline constexpr std::size_t kSmallStep = 512;
// All simulated devices have compute capability 9.0.
inline constexpr int kComputeCapability = 90;

constexpr std::size_t round_up(std::size_t value, std::size_t step)
{
    return (value + step - 1) / step * step;
}

class Device {
public:
    Device(int ordinal, std::size_t bytes);

    int ordinal() const { return ordinal_; }
    std::size_t total_bytes() const { return total_bytes_; }
    std::size_t used_bytes() const { return used_bytes_; }
    int file() const { return file_; }
    std::uintptr_t window() const { return ~hidden_window_; }
    std::size_t window_bytes() const { return window_bytes_; }

    // Device memory, or 0 if the device does not have that many bytes left.
    std::uintptr_t take(std::size_t bytes);
    // `dirty` says that something may have been written. Whole blocks are then zero again for
    // their next owner.
    void give(std::uintptr_t address, std::size_t bytes, bool dirty);
    // Like take(), but below 4 GiB, for the forms of CUDA 3.1 with 32 bits.
    std::uintptr_t take_low(std::size_t bytes);

    // Address space without memory: graph allocations own an address before they own bytes.
    std::uintptr_t reserve_blocks(std::size_t bytes);
    void unreserve_blocks(std::uintptr_t address, std::size_t bytes, bool dirty);
    // Counts bytes that are used or given back without an address.
    bool charge(std::size_t bytes);
    void discharge(std::size_t bytes) { used_bytes_ -= bytes; }
    // What the driver takes for its own objects: see own_bytes.hpp.
    bool take_own(std::size_t bytes);
    void give_own(std::size_t bytes);
    // What other processes use at the moment: see VRAMSCOPE_SIM_NEIGHBOUR.
    std::size_t bytes_of_others();

private:
    bool map_up_to(std::uintptr_t end);
    std::uintptr_t take_small(std::size_t bytes);
    bool is_low(std::uintptr_t address) const { return address < (std::uintptr_t{1} << 32); }

    int ordinal_;
    std::size_t total_bytes_;
    std::size_t used_bytes_ = 0;
    std::size_t own_bytes_ = 0;
    std::size_t others_bytes_ = 0;
    std::minstd_rand others_move_;
    std::size_t window_bytes_;
    // All bits are turned, so that a search for pointers finds none to the first block here.
    std::uintptr_t hidden_window_ = ~std::uintptr_t{0};
    std::uintptr_t mapped_end_ = 0;
    int file_ = -1;
    FreeRanges blocks_;
    FreeRanges small_;
    FreeRanges low_;
    bool low_mapped_ = false;
};

// Made by cuInit; empty before.
std::vector<Device*>& devices();
Device* device_at(CUdevice ordinal);

// Guards devices, allocations, pools and physical handles. Never held while queued work runs.
std::mutex& memory_mutex();

} // namespace simgpu
