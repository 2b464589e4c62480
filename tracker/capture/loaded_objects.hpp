// tracker/capture/loaded_objects.hpp — the walk over what is loaded.
//
// It is dl_iterate_phdr, and what takes its place where that would wait for ever. glibc's fork
// gives the child the lock of that walk as it was: if another thread of the parent held it, no
// thread of the child ever releases it. Nothing can then be loaded or unloaded there either, so
// that the list can be read without the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>
#include <span>

namespace vramscope::capture {

// Works as dl_iterate_phdr(3). For a list that is locked for ever, dlpi_adds is 1 and dlpi_subs 0.
int each_object(int (*visit)(dl_phdr_info* info, std::size_t bytes, void* data),
                void* data) noexcept;

inline std::span<const ElfW(Phdr)> segments_of(const dl_phdr_info& info) noexcept
{
    return {info.dlpi_phdr, info.dlpi_phnum};
}

// The dynamic section; null: there is none.
inline const ElfW(Dyn) * dynamic_of(const dl_phdr_info& info) noexcept
{
    for (const ElfW(Phdr) & segment : segments_of(info))
        if (segment.p_type == PT_DYNAMIC)
            return reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + segment.p_vaddr);
    return nullptr;
}

// From the first byte of an object's loaded segments to one past the last.
struct LoadedRange {
    std::uintptr_t first;
    std::uintptr_t end; // 0: nothing is loaded
};
LoadedRange loaded_range(const dl_phdr_info& info) noexcept;

// Whether an address lies in a loaded segment of the object.
bool holds(const dl_phdr_info& info, std::uintptr_t address) noexcept;

// Whether it is data of the object that the object itself may change.
bool is_writable(const dl_phdr_info& info, std::uintptr_t address) noexcept;

// True: dl_iterate_phdr would not return, so we may not call functions that call it either.
bool objects_locked_for_ever() noexcept;

} // namespace vramscope::capture
