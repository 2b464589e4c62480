// tracker/capture/modules.cpp — one walk over what is loaded, compared with the walk before.
#include "tracker/capture/modules.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string_view>
#include <sys/auxv.h>
#include <unistd.h>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/loaded_objects.hpp"

namespace vramscope::capture {
namespace {

void read_build_id(const dl_phdr_info& info, Module& module) noexcept
{
    for (const ElfW(Phdr) & segment : segments_of(info)) {
        if (segment.p_type != PT_NOTE)
            continue;
        const auto* at = reinterpret_cast<const std::uint8_t*>(info.dlpi_addr + segment.p_vaddr);
        std::size_t left = segment.p_memsz;
        const std::size_t align = segment.p_align == 8 ? 8 : 4;
        while (left >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const std::size_t name_bytes = (note.n_namesz + align - 1) & ~(align - 1);
            const std::size_t whole =
                sizeof note + name_bytes + ((note.n_descsz + align - 1) & ~(align - 1));
            if (whole > left)
                break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                std::memcmp(at + sizeof note, "GNU", 4) == 0 &&
                note.n_descsz <= sizeof module.build_id) {
                std::memcpy(module.build_id, at + sizeof note + name_bytes, note.n_descsz);
                module.build_id_bytes = note.n_descsz;
                return;
            }
            at += whole;
            left -= whole;
        }
    }
}

// The file that is mapped at an address, as one line of the kernel's list says: "55d0-55d1 r-xp
// 00000000 08:01 1234    /usr/bin/true". Empty: none is.
void read_mapped_path(std::uintptr_t address, char* path, std::size_t room) noexcept
{
    path[0] = '\0';
    constexpr std::size_t kBytes = 1u << 14; // a line is far shorter
    const Scratch<char[kBytes]> text;
    const int file = text ? ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    std::size_t used = 0;
    for (ssize_t got = 0; (got = ::read(file, *text + used, kBytes - used)) > 0;) {
        char* line = *text;
        char* const end = line + used + got;
        for (char* next = nullptr; (next = std::find(line, end, '\n')) != end; line = next + 1) {
            std::uintptr_t range[2] = {};
            const char* const dash = std::from_chars(line, next, range[0], 16).ptr;
            std::from_chars(dash + 1, next, range[1], 16);
            const char* const name = std::find(line, next, '/');
            if (address - range[0] < range[1] - range[0])
                path[std::string_view(name, next).copy(path, room - 1)] = '\0';
        }
        used = static_cast<std::size_t>(end - line);
        std::copy(line, end, *text);
    }
    ::close(file);
}

// "ld.so PROGRAM" runs that program in the loader's process.
void read_program_path(std::uintptr_t address, char* path, std::size_t room) noexcept
{
    if (::getauxval(AT_BASE) == 0)
        return read_mapped_path(address, path, room);
    const ssize_t length = ::readlink("/proc/self/exe", path, room - 1);
    path[length > 0 ? length : 0] = '\0';
}

// The main program has no name here, the vDSO has one of which there is no file, and what
// dlopen("./x.so") loaded has a relative one.
void read_path(const dl_phdr_info& info, bool is_first, Module& module) noexcept
{
    const char* name = info.dlpi_name ? info.dlpi_name : "";
    char* const path = module.path;
    constexpr std::size_t kRoom = sizeof module.path - 1;
    if (*name == '/') {
        std::strncpy(path, name, kRoom);
    } else if (*name == '\0' && is_first) {
        read_program_path(module.first, path, sizeof module.path);
    } else if (std::strncmp(name, "linux-vdso", 10) == 0 || *name == '\0') {
        std::strcpy(path, "[vdso]");
    } else if (::getcwd(path, kRoom)) {
        const std::size_t used = std::strlen(path);
        std::snprintf(path + used, sizeof module.path - used, "/%s", name);
    } else {
        std::strncpy(path, name, kRoom);
    }
}

// Compares two objects that were found at one address. Paths count only where there is no build-id:
// one that was opened by a relative path changes with the directory.
bool same_object(const Module& a, const Module& b) noexcept
{
    if (a.end != b.end || a.build_id_bytes != b.build_id_bytes)
        return false;
    return a.build_id_bytes ? std::memcmp(a.build_id, b.build_id, a.build_id_bytes) == 0
                            : std::strcmp(a.path, b.path) == 0;
}

} // namespace

unsigned long long unloaded_objects() noexcept
{
    const SignalsHeld held; // its lock is held while it calls us back
    unsigned long long count = 0;
    each_object(
        [](dl_phdr_info* info, std::size_t, void* data) {
            *static_cast<unsigned long long*>(data) = info->dlpi_subs;
            return 1;
        },
        &count);
    return count;
}

struct Modules::Scan {
    Modules* self;
    const ModuleObserver* observer;
    bool first = true;
    bool changed = false;
};

Module* Modules::find_or_add(std::uintptr_t bias, std::uintptr_t first, bool& added) noexcept
{
    Module* free_slot = nullptr;
    for (std::size_t i = 0; i < used_; ++i) {
        Module& module = modules_[i];
        if (module.id && module.bias == bias && module.first == first)
            return &module;
        if (!module.id && !free_slot)
            free_slot = &module;
    }
    if (!free_slot && used_ < kMaxModules)
        free_slot = &modules_[used_++];
    added = free_slot != nullptr;
    return free_slot;
}

void Modules::scan(const ModuleObserver& observer) noexcept
{
    Scan scan{this, &observer};
    const auto visit = [](dl_phdr_info* info, std::size_t, void* data) -> int {
        auto& state = *static_cast<Scan*>(data);
        Modules& self = *state.self;
        const bool is_first = state.first;
        state.first = false;
        if (is_first) {
            if (info->dlpi_adds == self.adds_.load(std::memory_order_acquire) &&
                info->dlpi_subs == self.subs_.load(std::memory_order_acquire))
                return 1;
            self.lock_.lock(); // always taken inside the loader's own lock, so in one order
            state.changed = true;
            ++self.generation_;
            if (!self.modules_)
                self.modules_ = static_cast<Module*>(map_pages(kMaxModules * sizeof(Module)));
            if (!self.modules_)
                return 1;
            if (info->dlpi_subs != self.subs_.load(std::memory_order_relaxed))
                self.unload_epoch_.fetch_add(1, std::memory_order_relaxed);
            self.adds_.store(info->dlpi_adds, std::memory_order_release);
            self.subs_.store(info->dlpi_subs, std::memory_order_release);
        }
        const LoadedRange range = loaded_range(*info);
        if (range.end == 0)
            return 0;
        bool added = false;
        Module* module = self.find_or_add(info->dlpi_addr, range.first, added);
        if (!module)
            return 0;
        Module fresh;
        fresh.bias = info->dlpi_addr;
        fresh.first = range.first;
        fresh.end = range.end;
        read_build_id(*info, fresh);
        read_path(*info, is_first, fresh);
        if (!added && !same_object(fresh, *module)) { // another library at the same address
            state.observer->gone(state.observer->context, module->id);
            added = true;
        }
        if (added) {
            fresh.id = self.next_id_++;
            *module = fresh;
            state.observer->loaded(state.observer->context, *module);
        }
        module->generation = self.generation_;
        return 0;
    };
    each_object(visit, &scan);
    if (!scan.changed)
        return;
    for (std::size_t i = 0; i < used_ && modules_; ++i) {
        Module& module = modules_[i];
        if (!module.id || module.generation == generation_)
            continue;
        observer.gone(observer.context, module.id);
        module.id = 0;
    }
    lock_.unlock();
}

void Modules::reset_after_fork() noexcept
{
    if (modules_)
        ::munmap(modules_, kMaxModules * sizeof(Module));
    modules_ = nullptr;
    used_ = 0;
    next_id_ = 1;
    generation_ = 0;
    adds_.store(0);
    subs_.store(0);
    unload_epoch_.store(0);
}

} // namespace vramscope::capture
