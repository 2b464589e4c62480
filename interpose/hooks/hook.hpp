// interpose/hooks/hook.hpp — the hook table as data.
//
// A hook's id is its row. Its real function is set when a look-up hands out our wrapper in its
// place, or found at the first call of the exported symbol; once set it stays. Any thread.
//
// The table has no pointers: the loader would write each of them, in processes without CUDA too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/hooks/driver_api.hpp"
#include "tracker/lifecycle/lifecycle.hpp"
#include "tracker/log/driver_times.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {

enum class Hook : std::uint16_t {
#define VRAMSCOPE_HOOK(symbol, ...) symbol,
#include "interpose/hooks/hook_table.def"
};

enum class Streams : std::uint8_t { legacy, per_thread };

// The names of all rows, one after another.
struct HookNames {
#define VRAMSCOPE_HOOK(symbol, base, ...)                                                          \
    char symbol##_symbol[sizeof #symbol];                                                          \
    char symbol##_base[sizeof #base];
#include "interpose/hooks/hook_table.def"
};
extern const HookNames kHookNames;

struct HookInfo {
    std::uint16_t symbol_at; // in kHookNames
    std::uint16_t base_at;
    std::uint16_t since;
    Streams streams;
    format::Effect effect;
    format::Memory memory;

    const char* symbol() const noexcept { return name_at(symbol_at); }
    const char* base() const noexcept { return name_at(base_at); }

private:
    static const char* name_at(std::size_t offset) noexcept
    {
        return reinterpret_cast<const char*>(&kHookNames) + offset;
    }
};

inline constexpr std::size_t kHooks = 0
#define VRAMSCOPE_HOOK(...) +1
#include "interpose/hooks/hook_table.def"
    ;

static_assert(kHooks <= log::DriverTimes::kRows);

// Allocators of the program's that cut device memory into blocks and tell us of them: see
// interpose/frameworks. In the log each has two entry points, to allocate and to free.
enum class Allocator : std::uint8_t { pytorch }; // and numbers of allocator_named()
inline constexpr std::size_t kAllocators = 1;
inline constexpr std::size_t kApiCount = kHooks + 2 * kAllocators;

extern const HookInfo kHookTable[kHooks];
// The same rows, as the log names them; then the allocators.
log::Api api_at(std::size_t id) noexcept;

inline const HookInfo& info(Hook hook)
{
    return kHookTable[static_cast<std::size_t>(hook)];
}

// Row of an exact symbol name; null: none of ours.
const HookInfo* find_hook(const char* symbol) noexcept;
// Row of the newest signature of `base` that is not newer than `version`, in the
// wanted stream form.
const HookInfo* find_hook(const char* base, int version, Streams streams) noexcept;

inline Hook id_of(const HookInfo& hook)
{
    return static_cast<Hook>(&hook - kHookTable);
}

// Our exported function.
void* wrapper_of(Hook hook) noexcept;

// The function that a wrapper stands for; null: there is no driver.
extern constinit std::atomic<void*> real_functions[kHooks];
void* find_real_function(Hook hook) noexcept;
inline void* real_function(Hook hook) noexcept
{
    void* function = real_functions[static_cast<std::size_t>(hook)].load(std::memory_order_acquire);
    return function ? function : find_real_function(hook);
}
void set_real_function(Hook hook, void* function) noexcept;

// An entry point that may find no device memory left.
bool takes_device_memory(Hook hook) noexcept;

} // namespace vramscope::hooks
