// tests/programs/frameworks/torch_report.cpp — stands in for libc10: counts what it is told.
#include "tests/programs/frameworks/torch_api.hpp"

namespace {

std::uint64_t calls = 0; // the caller holds its lock
std::int64_t live_bytes = 0;
std::uint64_t shortages = 0;

} // namespace

void c10::reportMemoryUsageToProfiler(void*, std::int64_t bytes, std::size_t, std::size_t, Device)
{
    ++calls;
    live_bytes += bytes;
}

void c10::reportOutOfMemoryToProfiler(std::int64_t, std::size_t, std::size_t, Device)
{
    ++shortages;
}

extern "C" __attribute__((visibility("default"))) void
told(std::uint64_t* call_count, std::int64_t* bytes, std::uint64_t* shortage_count)
{
    *call_count = calls;
    *bytes = live_bytes;
    *shortage_count = shortages;
}
