// interpose/hooks/bypassed.cpp — a flag for each framework of the table.
#include "interpose/hooks/bypassed.hpp"

#include <atomic>
#include <cstring>
#include <iterator>

#include "interpose/hooks/call.hpp"
#include "tracker/format/frameworks.hpp"

namespace vramscope::hooks {
namespace {

constinit std::atomic<bool> bypassed[std::size(format::kFrameworks)]{};

} // namespace

void write_bypassed(log::Thread& thread) noexcept
{
    std::atomic_thread_fence(std::memory_order_seq_cst); // as write_if_open() says
    for (std::size_t i = 0; i < std::size(bypassed); ++i)
        if (bypassed[i])
            log::write(thread, format::Info{"bypassed", format::kFrameworks[i].name});
}

void remember_bypassed(const char* framework) noexcept
{
    bool news = false;
    for (std::size_t i = 0; i < std::size(bypassed); ++i)
        if (std::strcmp(format::kFrameworks[i].name, framework) == 0)
            news = !bypassed[i].exchange(true);
    if (news)
        write_if_open(&write_bypassed);
}

} // namespace vramscope::hooks
