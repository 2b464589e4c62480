// interpose/doors/process_hooks.cpp — dlclose, _exit and _Exit.
//
// libc's functions that change what the log must know. None of them is hooked for what it does;
// each passes straight on. Also our constructor and destructor.
#include <atomic>
#include <cstdlib>
#include <unistd.h>

#include "interpose/doors/deepbound.hpp"
#include "tracker/capture/glibc.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/environment/tell.hpp"
#include "tracker/lifecycle/lifecycle.hpp"
#include "tracker/log/stack_recorder.hpp"

// libstdc++ asks it whether there are other threads; musl has no such variable. There may be.
extern "C" {
char __libc_single_threaded = 0;
}

#define VRAMSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace vramscope;

template <class Function>
Function libc_function(std::atomic<void*>& kept, const char* name)
{
    void* function = kept.load(std::memory_order_acquire);
    if (!function) {
        function = capture::libc_symbol(name);
        kept.store(function, std::memory_order_release);
    }
    return reinterpret_cast<Function>(function);
}

// The loader hands a constructor what main gets.
[[gnu::constructor]] void loaded(int, char**, char** environment)
{
    if (!capture::is_glibc())
        return; // musl hands it nothing, and there is no CUDA
    log::keep_settings_of(environment);
    log::keep_stderr();
    // Only `vramscope run` wants to know; without it a process that never uses CUDA is left alone.
    if (capture::variable_in<"VRAMSCOPE_RUN=">(environment) && *log::settings().run_file &&
        !capture::privileged()) {
        char path[log::kPathBytes];
        const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        log::announce("start", path);
    }
}

// Runs after the exit handlers of the program, if not after those of every library.
[[gnu::destructor]] void unloading()
{
    hooks::tell_of_deepbound();
    log::ended(format::End::exit, 0);
}

[[noreturn]] void leave(const char* name, int status)
{
    static constinit std::atomic<void*> kept{nullptr};
    hooks::tell_of_deepbound();
    log::ended(format::End::underscore_exit, status);
    if (const auto real = libc_function<void (*)(int)>(kept, name))
        real(status);
    __builtin_trap();
}

} // namespace

// After a library is gone its addresses may be another's.
VRAMSCOPE_EXPORT int dlclose(void* handle)
{
    static constinit std::atomic<void*> kept{nullptr};
    const auto real = libc_function<int (*)(void*)>(kept, "dlclose");
    if (!real)
        return -1;
    if (!log::process->generation)
        return real(handle);
    const unsigned long long before = capture::unloaded_objects();
    const int result = real(handle);
    if (capture::unloaded_objects() != before)
        log::code_unloaded();
    return result;
}

VRAMSCOPE_EXPORT void _exit(int status)
{
    leave("_exit", status);
}
VRAMSCOPE_EXPORT void _Exit(int status)
{
    leave("_exit", status);
}
