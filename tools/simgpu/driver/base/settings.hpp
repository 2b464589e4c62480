// tools/simgpu/driver/base/settings.hpp — the environment of the simulated GPU, read and checked.
//
// The README lists the variables. A bad value gets one line on stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

// Writes one line on stderr, "simgpu: …", in which text from the environment is safe
// for a terminal.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);

struct DeviceSetting {
    unsigned count;
    std::size_t bytes;
};
// Nothing if the value cannot be understood; then complain() has said so.
std::optional<DeviceSetting> device_setting();
std::optional<DeviceSetting> parse_devices(std::string_view text);

struct FaultSetting {
    std::string name;
    std::uint64_t nth; // 0 means every call
    int code;
};
std::vector<FaultSetting> fault_settings();

// VRAMSCOPE_SIM_CUDA as cuDriverGetVersion tells it, 12040 for 12.4; the newest without it.
int cuda_version(int newest);
// 12040 for "12.4"; nothing for what is not a version from 11.3 on.
std::optional<int> parse_version(std::string_view text);

// VRAMSCOPE_SIM_TAKES: what the driver itself takes of a device for each of its objects.
struct ObjectBytes {
    std::size_t context = 0;
    std::size_t stream = 0;
    std::size_t module = 0;
    std::size_t library = 0;      // in the context that is current when it is loaded
    std::size_t graph_node = 0;   // of an executable graph
    std::size_t limit = 0;        // each time that one is raised
    std::size_t first_launch = 0; // of a kernel, in each context: late for what was made before
};
const ObjectBytes& object_bytes();
// VRAMSCOPE_SIM_NEIGHBOUR: the most that other processes use of each device, now more, now less.
std::size_t neighbour_bytes();

const char* trace_path();
// How long queued work waits before it runs by itself.
std::chrono::microseconds work_delay();
// How long every form of cuMemAlloc, of cuMemFree and of cuMemGetInfo takes at least.
std::chrono::microseconds allocation_time();
std::chrono::microseconds free_time();
std::chrono::microseconds info_time();

} // namespace simgpu
