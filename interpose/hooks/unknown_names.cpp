// interpose/hooks/unknown_names.cpp — a slot for each name: claimed by its hash, filled, written.
#include "interpose/hooks/unknown_names.hpp"

#include <atomic>
#include <cstdio>

#include "interpose/hooks/call.hpp"

namespace vramscope::hooks {
namespace {

struct UnknownName {
    std::atomic<std::uint64_t> hash; // 0: free
    std::atomic<bool> filled;
    std::atomic<std::uint32_t> written; // generation of the log that has it
    char text[56];                      // name, or name@version; a longer one is cut
};

constinit UnknownName names[kMostUnknownNames]{};
constinit std::atomic<bool> more{false};
constinit std::atomic<std::uint32_t> more_written{0};

std::uint64_t hash_of(const char* text) noexcept
{
    std::uint64_t value = 14695981039346656037u; // FNV-1a
    for (; *text; ++text)
        value = (value ^ static_cast<unsigned char>(*text)) * 1099511628211u;
    return value ? value : 1;
}

// False: it was there already.
bool keep(const char* text) noexcept
{
    const std::uint64_t hash = hash_of(text);
    for (UnknownName& name : names) {
        std::uint64_t holder = 0;
        if (name.hash.compare_exchange_strong(holder, hash)) {
            std::snprintf(name.text, sizeof name.text, "%s", text);
            name.filled.store(true);
            return true;
        }
        if (holder == hash)
            return false;
    }
    return !more.exchange(true);
}

} // namespace

void write_unknown_names(log::Thread& thread) noexcept
{
    // As write_if_open() says.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::uint32_t log = log::process->generation;
    for (UnknownName& name : names)
        if (name.filled && name.written.exchange(log) != log)
            log::write(thread, format::Info{"unknown_entry_point", name.text});
    if (more && more_written.exchange(log) != log)
        log::write(thread, format::Info{"unknown_entry_points.more", "1"});
}

void remember_unknown_name(const char* name, int version) noexcept
{
    char text[sizeof UnknownName::text];
    if (version)
        std::snprintf(text, sizeof text, "%s@%d", name, version);
    else
        std::snprintf(text, sizeof text, "%s", name);
    if (keep(text))
        write_if_open(&write_unknown_names);
}

} // namespace vramscope::hooks
