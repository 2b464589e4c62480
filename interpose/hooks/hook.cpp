// interpose/hooks/hook.cpp — the hook table expanded: names, our functions, the real ones.
#include "interpose/hooks/hook.hpp"

#include <cstddef>
#include <cstring>
#include <dlfcn.h>

#include "interpose/hooks/driver.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/format/frameworks.hpp"

// Our functions: actions/wrappers.cpp defines them. An older cuda.h does not declare all of them.
#define VRAMSCOPE_HOOK(symbol, base, since, streams, effect, memory, parameters, ...)              \
    extern "C" CUresult CUDAAPI symbol parameters;
#include "interpose/hooks/hook_table.def"

namespace vramscope::hooks {

constexpr HookNames kHookNames = {
#define VRAMSCOPE_HOOK(symbol, base, ...) #symbol, #base,
#include "interpose/hooks/hook_table.def"
};
static_assert(sizeof kHookNames <= UINT16_MAX);

constexpr HookInfo kHookTable[kHooks] = {
#define VRAMSCOPE_HOOK(symbol, base, since, streams, effect, memory, ...)                          \
    {offsetof(HookNames, symbol##_symbol),                                                         \
     offsetof(HookNames, symbol##_base),                                                           \
     since,                                                                                        \
     Streams::streams,                                                                             \
     format::Effect::effect,                                                                       \
     format::Memory::memory},
#include "interpose/hooks/hook_table.def"
};

log::Api api_at(std::size_t id) noexcept
{
    if (id >= kHooks)
        return {format::kPyTorch,
                (id - kHooks) % 2 == 0 ? format::Effect::alloc : format::Effect::free,
                format::Memory::suballocated};
    const HookInfo& hook = kHookTable[id];
    return {hook.symbol(), hook.effect, hook.memory};
}

// Not a table: the loader would have to fill it.
void* wrapper_of(Hook hook) noexcept
{
    switch (hook) {
#define VRAMSCOPE_HOOK(symbol, ...)                                                                \
    case Hook::symbol:                                                                             \
        return reinterpret_cast<void*>(&::symbol);
#include "interpose/hooks/hook_table.def"
    }
    return nullptr;
}

constinit std::atomic<void*> real_functions[kHooks]{};

// An exported hook was called before any look-up: the program was linked with -lcuda. The next
// definition may be that of another preload, which is to be called; else it is the driver's own.
[[gnu::noinline, gnu::cold]] void* find_real_function(Hook hook) noexcept
{
    void* function = capture::loader_dlsym(RTLD_NEXT, info(hook).symbol());
    if (!function)
        if (const Driver* driver = Driver::find())
            function = driver->own_address(hook);
    if (function)
        set_real_function(hook, function);
    return function;
}

void set_real_function(Hook hook, void* function) noexcept
{
    // Another interposer's look-up may hand out our own export, or a driver's that was not
    // linked to itself.
    if (function == wrapper_of(hook))
        return;
    real_functions[static_cast<std::size_t>(hook)].store(function, std::memory_order_release);
}

bool takes_device_memory(Hook hook) noexcept
{
    switch (format::class_of(info(hook).memory)) {
    case format::MemoryClass::unknown:
    case format::MemoryClass::host:
    case format::MemoryClass::addresses:
        return false;
    default:
        return info(hook).effect != format::Effect::free;
    }
}

const HookInfo* find_hook(const char* symbol) noexcept
{
    for (const HookInfo& hook : kHookTable)
        if (std::strcmp(hook.symbol(), symbol) == 0)
            return &hook;
    return nullptr;
}

const HookInfo* find_hook(const char* base, int version, Streams streams) noexcept
{
    const HookInfo* newest = nullptr;
    const HookInfo* legacy = nullptr;
    for (const HookInfo& hook : kHookTable) {
        if (hook.since > version || std::strcmp(hook.base(), base) != 0)
            continue;
        const HookInfo*& best = hook.streams == streams ? newest : legacy;
        if (!best || hook.since > best->since)
            best = &hook;
    }
    return newest ? newest : streams == Streams::per_thread ? legacy : nullptr;
}

} // namespace vramscope::hooks
