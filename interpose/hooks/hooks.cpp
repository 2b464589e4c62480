// interpose/hooks/hooks.cpp — the hook table expanded: exported functions, their names, the real
// ones.
//
// An exported function of a row whose types disagree with cuda.h does not compile ("conflicting
// declaration").
#include "interpose/hooks/hook.hpp"

#include <cstring>
#include <dlfcn.h>

#include "interpose/actions/intercept.hpp"
#include "tracker/capture/loader.hpp"

using namespace vramscope::hooks; // the actions are named in the table

// The frame address makes the compiler keep rbp at frame - 16, where verified stacks look for it.
#define VRAMSCOPE_HOOK(symbol, base, since, streams, effect, memory, parameters, arguments,        \
                       action)                                                                     \
    extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI symbol parameters           \
    {                                                                                              \
        const vramscope::log::CallSite site{                                                       \
            reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),                         \
            reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 16,                     \
        };                                                                                         \
        return intercept<decltype(&::symbol)>(                                                     \
            Hook::symbol, site, action, [&](decltype(&::symbol) real) { return real arguments; }); \
    }
#include "interpose/hooks/hook_table.def"

namespace vramscope::hooks {

const HookInfo kHookTable[kHooks] = {
#define VRAMSCOPE_HOOK(symbol, base, since, streams, ...)                                          \
    {#symbol, #base, since, Streams::streams, reinterpret_cast<void*>(&::symbol)},
#include "interpose/hooks/hook_table.def"
};

const log::Api kApis[kHooks] = {
#define VRAMSCOPE_HOOK(symbol, base, since, streams, effect, memory, ...)                          \
    {#symbol, format::Effect::effect, format::Memory::memory},
#include "interpose/hooks/hook_table.def"
};

namespace {

constinit std::atomic<void*> real[kHooks]{};

// An exported hook was called before any look-up: the program was linked with -lcuda. The next
// definition may be another preload's, which has a right to be called; else it is the driver's own.
[[gnu::noinline, gnu::cold]] void* find_real_function(Hook hook) noexcept
{
    void* function = capture::loader_dlsym(RTLD_NEXT, info(hook).symbol);
    if (!function)
        if (const Driver* driver = Driver::find())
            function = driver->own_address(hook);
    if (function)
        set_real_function(hook, function);
    return function;
}

} // namespace

void* real_function(Hook hook) noexcept
{
    void* function = real[static_cast<std::size_t>(hook)].load(std::memory_order_acquire);
    return function ? function : find_real_function(hook);
}

void set_real_function(Hook hook, void* function) noexcept
{
    // Another interposer's look-up may hand out our own export, or a driver's that was not linked
    // to itself.
    if (function == info(hook).wrapper)
        return;
    real[static_cast<std::size_t>(hook)].store(function, std::memory_order_release);
}

const HookInfo* find_hook(const char* symbol) noexcept
{
    for (const HookInfo& hook : kHookTable)
        if (std::strcmp(hook.symbol, symbol) == 0)
            return &hook;
    return nullptr;
}

const HookInfo* find_hook(const char* base, int version, Streams streams) noexcept
{
    const HookInfo* newest = nullptr;
    const HookInfo* legacy = nullptr;
    for (const HookInfo& hook : kHookTable) {
        if (hook.since > version || std::strcmp(hook.base, base) != 0)
            continue;
        const HookInfo*& best = hook.streams == streams ? newest : legacy;
        if (!best || hook.since > best->since)
            best = &hook;
    }
    return newest ? newest : streams == Streams::per_thread ? legacy : nullptr;
}

} // namespace vramscope::hooks
