// tools/simgpu/driver/share/share.hpp — memory of another process, seen through its file.
//
// The name of a file says what is in it: the whole memory of a device, physical memory that was
// made to be exported, a multicast object, or the state of an event.
#pragma once

#include "tools/simgpu/driver/memory/allocation.hpp"

namespace simgpu {

// -1 if the system has no descriptor or memory left.
int make_device_file(int ordinal, std::size_t bytes);
int make_memory_file(const Device& device, std::size_t bytes);
int make_multicast_file(unsigned team, std::size_t bytes);
int make_event_file(std::size_t bytes);
// The device that a given file belongs to; null for any other file.
Device* device_of_file(int file);
Device* device_of_memory_file(int file);
unsigned team_of_multicast_file(int file); // 0 for any other file
bool is_event_file(int file);
// Makes another descriptor of the same file.
CUresult duplicate_file(int file, int& copy);
// Maps a range of the file at a new address and registers it as `kind`.
CUresult map_foreign(int file, std::uint64_t offset, std::uint64_t bytes, Kind kind, Device& device,
                     Context* context, CUdeviceptr& address);
// Closes the memory objects of other APIs that were imported in the context, whose resources
// they are (cuda.h).
void free_external_memory_of(Context& context);

} // namespace simgpu
