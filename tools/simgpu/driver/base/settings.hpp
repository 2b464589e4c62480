// tools/simgpu/driver/base/settings.hpp — the environment of the simulated GPU, read and checked.
//
// VRAMSCOPE_SIMULATE "24GiB" or "2x80GiB", VRAMSCOPE_SIM_FAULTS
// "cuMemAlloc_v2@3=2,cuMemCreate@*=801", VRAMSCOPE_SIM_TRACE file, VRAMSCOPE_SIM_DELAY_US,
// VRAMSCOPE_SIM_ALLOC_US and VRAMSCOPE_SIM_FREE_US microseconds. A bad value gets one line on
// stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

// One line on stderr, "simgpu: …"; what the environment holds is made safe for a terminal.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);

struct DeviceSetting {
    unsigned count;
    std::size_t bytes;
};
// Nothing if the value cannot be understood; it has been complained about then.
std::optional<DeviceSetting> device_setting();
std::optional<DeviceSetting> parse_devices(std::string_view text);

struct FaultSetting {
    std::string name;
    std::uint64_t nth; // 0 is each call
    int code;
};
std::vector<FaultSetting> fault_settings();

const char* trace_path();
// How long queued work waits before it runs by itself.
std::chrono::microseconds work_delay();
// What cuMemAlloc and cuMemFree cost, in all their forms. 0: what they take.
std::chrono::microseconds allocation_time();
std::chrono::microseconds free_time();

} // namespace simgpu
