// tools/simgpu/driver/vmm.hpp — virtual memory management, as other files see it.
#pragma once

#include <cstdint>

namespace simgpu {

// Belongs to a device's window or to a reservation: not the program's own memory.
bool address_is_reserved_locked(std::uintptr_t address);

} // namespace simgpu
