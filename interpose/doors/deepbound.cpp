// interpose/doors/deepbound.cpp — a few names, then one walk over what is loaded.
#include "interpose/doors/deepbound.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <iterator>
#include <unistd.h>

#include "interpose/hooks/call.hpp"
#include "tracker/capture/arena.hpp"
#include "tracker/capture/glibc.hpp"
#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/signals.hpp"
#include "tracker/environment/tell.hpp"

namespace vramscope::hooks {
namespace {

struct Opened {
    std::atomic<bool> filled;
    char name[128]; // without folders; a longer one is cut, and not found again
};

constinit Opened opened[16]{};
constinit std::atomic<std::size_t> opened_count{0};
constinit std::atomic<pid_t> opened_in{0};
constinit std::atomic<bool> told{false};
constinit bool audited = false;

// Before the program can change its environment.
[[gnu::constructor]] void look_at_the_audit_door(int, char**, char** environment)
{
    if (!capture::is_glibc())
        return;
    const char* auditors = capture::variable_in<"LD_AUDIT=">(environment);
    audited = auditors && std::strstr(auditors, "libvramscope-audit.so");
}

// libcuda.so.1 or libcudart.so.*, as a library that it needs or as a text that it opens; the static
// runtime has that text too. More than this of one segment is not looked through.
bool names_driver(const dl_phdr_info& info) noexcept
{
    constexpr std::size_t kMostBytes = 64 << 20;
    constexpr char kDriver[] = "libcuda";
    for (const ElfW(Phdr) & segment : capture::segments_of(info)) {
        const bool constant = (segment.p_flags & PF_R) && !(segment.p_flags & PF_W);
        if (segment.p_type == PT_LOAD && constant &&
            ::memmem(reinterpret_cast<const void*>(info.dlpi_addr + segment.p_vaddr),
                     std::min(segment.p_filesz, kMostBytes), kDriver, sizeof kDriver - 1))
            return true;
    }
    return false;
}

struct Search {
    struct Wanted {
        const char* name;
        std::size_t opened; // index of the opened library that it is, or came with
    };
    Wanted wanted[512];
    std::size_t count;
    std::size_t now; // index of the opened library whose needs are added
    bool reaches[std::size(opened)];

    void add(const char* name, std::size_t which) noexcept
    {
        if (count < std::size(wanted))
            wanted[count++] = {capture::base_name(name), which};
    }
};

// What a library needs and was not there yet comes after it in the loader's list: one walk sees
// them all, and none that looks where everybody looks.
int visit(dl_phdr_info* info, std::size_t, void* data)
{
    auto& search = *static_cast<Search*>(data);
    const char* const name = capture::base_name(info->dlpi_name);
    auto* const end = search.wanted + search.count;
    const auto* const found = std::find_if(search.wanted, end, [name](const auto& wanted) {
        return std::strcmp(wanted.name, name) == 0;
    });
    if (found == end || std::strncmp(name, "libcuda.so", 10) == 0) // the driver may do as it likes
        return 0;
    search.now = found->opened;
    search.reaches[search.now] = search.reaches[search.now] || names_driver(*info);
    if (const ElfW(Dyn)* const dynamic = capture::dynamic_of(*info))
        capture::each_needed(
            info->dlpi_addr, dynamic,
            [](const char* needed, void* in) {
                auto& into = *static_cast<Search*>(in);
                into.add(needed, into.now);
            },
            &search);
    return 0;
}

// "a.so, b.so", or nothing.
bool find_names(char* out, std::size_t capacity) noexcept
{
    const capture::Scratch<Search> search;
    if (!search)
        return false;
    const std::size_t count = std::min(opened_count.load(), std::size(opened));
    for (std::size_t i = 0; i < count; ++i)
        if (opened[i].filled)
            search->add(opened[i].name, i);
    capture::each_object(&visit, &*search);
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (search->reaches[i] && used + sizeof Opened::name < capacity)
            used += static_cast<std::size_t>(std::snprintf(out + used, capacity - used, "%s%s",
                                                           used ? ", " : "", opened[i].name));
    return used > 0;
}

void write_to_log(const char* names) noexcept
{
    log::Thread& thread = log::this_thread;
    if (thread.inside != log::Inside::program)
        return;
    thread.inside = log::Inside::recorder;
    if (log::ready(thread, kOpening))
        log::write(thread, format::Info{"deepbound", names});
    thread.inside = log::Inside::program;
}

} // namespace

void remember_deepbound(const char* path) noexcept
{
    if (audited || !path)
        return;
    const std::size_t at = opened_count.fetch_add(1);
    if (at >= std::size(opened))
        return;
    std::snprintf(opened[at].name, sizeof opened[at].name, "%s", capture::base_name(path));
    opened[at].filled.store(true);
    opened_in.store(::getpid());
}

void tell_of_deepbound() noexcept
{
    if (opened_count.load() == 0)
        return;
    const auto self = ::getpid(); // a child of vfork ends with its parent's memory
    const std::uint32_t generation = log::process->generation;
    if (self != (generation ? static_cast<pid_t>(generation) : opened_in.load()) ||
        told.exchange(true))
        return;
    const capture::SignalsHeld held; // the loader's lock is ours while it calls us back
    char names[512];
    if (!find_names(names, sizeof names))
        return;
    if (generation)
        return write_to_log(names);
    char text[700];
    std::snprintf(text, sizeof text,
                  "%s looked past us (RTLD_DEEPBIND): trace it with `vramscope run --audit`",
                  names);
    log::announce("note", text);
}

} // namespace vramscope::hooks
