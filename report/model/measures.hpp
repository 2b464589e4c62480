// report/model/measures.hpp — numbers of one process that budgets and comparisons ask for.
#pragma once

#include <cstdint>

namespace vramscope::report {

struct DeviceReport;
struct Process;
struct Report;

std::uint64_t peak_bytes(const Process& process);          // allocated, on any one device
std::uint64_t peak_reserved_bytes(const Process& process); // with what the pool kept; likewise
// What share of the reserved memory lay in pieces beside blocks or was rounded up, when the most
// was reserved; of the device where it was most.
double fragmentation(const Process& process);
// The one of peak_bytes(); null: nothing was allocated on any.
const DeviceReport* device_of_peak(const Process& process);
const DeviceReport* device_of_peak(const Report& report); // of all processes
// A memory call in any log, were it only one that failed.
bool saw_memory_call(const Report& report);
// None, and nothing that could have hidden one.
bool saw_nothing(const Report& report);
std::uint64_t driver_calls(const Process& process); // allocations and frees that reached the driver

} // namespace vramscope::report
