// tracker/capture/loader.hpp — libc's own functions, found without asking dlsym.
//
// The preload exports dlsym, dlvsym, dlclose and _exit itself, and others may do the same; what is
// found here is libc's definition, read from its dynamic symbol table. Any thread may call at any
// time; nothing is allocated. What each start calls is cold: it then shares its pages with the
// constructors, as each page of code that a start touches costs it microseconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <link.h>
#include <utility>

namespace vramscope::capture {

// The name of a file, without its folders. Unlike strrchr it works even while a sanitizer's runtime
// does not yet.
const char* base_name(const char* path) noexcept;

// Address of the default version of `name` in libc.so.6 (or in libdl.so.2 before glibc 2.34, or in
// musl's loader); null: it is not there.
void* libc_symbol(const char* name) noexcept;

// Address of `name` in one loaded object, from its dynamic section; null: not defined there.
void* object_symbol(ElfW(Addr) bias, const ElfW(Dyn) * dynamic, const char* name) noexcept;

// Calls `visit` with the name of each library that a loaded object needs.
void each_needed(ElfW(Addr) bias, const ElfW(Dyn) * dynamic,
                 void (*visit)(const char* name, void* data), void* data) noexcept;

// A variable of the loader itself, and its size; null: it is not there.
[[gnu::cold]] void* loader_symbol(const char* name, std::size_t& bytes) noexcept;

// libc's dlsym, past every hook.
void* loader_dlsym(void* handle, const char* name) noexcept;
void* loader_dlopen(const char* path, int flags) noexcept;

template <std::size_t kBytes>
struct Literal {
    consteval Literal(const char (&literal)[kBytes]) noexcept
    {
        std::copy_n(literal, kBytes, text);
    }
    char text[kBytes];
};

// The next variable that begins so, which `environment` then points past; nullptr: none does. It
// calls no function, for each one of libc's that a start needs must be bound first, and the
// beginning is in its code, for a text elsewhere would be a page more that a start touches.
template <Literal kBeginning>
[[gnu::cold]] const char* next_variable(char**& environment) noexcept
{
    constexpr std::size_t kLength = sizeof kBeginning.text - 1;
    while (environment && *environment) {
        const auto begins = [at = *environment++]<std::size_t... kAt>(std::index_sequence<kAt...>)
        {
            return ((at[kAt] == kBeginning.text[kAt]) && ...);
        };
        if (begins(std::make_index_sequence<kLength>()))
            return environment[-1];
    }
    return nullptr;
}

// What follows the beginning ("NAME=") in the first such variable; nullptr: there is none.
template <Literal kBeginning>
[[gnu::cold]] const char* variable_in(char** environment) noexcept
{
    const char* const variable = next_variable<kBeginning>(environment);
    return variable ? variable + sizeof kBeginning.text - 1 : nullptr;
}

// True while a process runs with raised privileges (AT_SECURE): we stay out.
bool privileged() noexcept;

} // namespace vramscope::capture
