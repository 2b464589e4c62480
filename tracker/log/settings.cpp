// tracker/log/settings.cpp — the environment, row by row of settings.def.
#include "tracker/log/settings.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tracker/capture/lock.hpp"

namespace vramscope::log {
namespace {

void complain(Settings& settings, const char* name, const char* value, const char* valid) noexcept
{
    if (!settings.complaint[0])
        std::snprintf(settings.complaint, sizeof settings.complaint,
                      "%s=%.64s is not valid: use %s", name, value, valid);
}

void take(char* field, Settings& settings, const char* name, const char* value,
          const char* fallback) noexcept
{
    if (value && std::strlen(value) >= kSettingBytes) {
        complain(settings, name, value, "less than 1024 bytes");
        value = nullptr;
    }
    std::strcpy(field, value && *value ? value : fallback);
}

// What is neither on nor off counts as on.
bool is_on(Settings& settings, const char* name, const char* value) noexcept
{
    if (std::strcmp(value, "off") == 0)
        return false;
    if (std::strcmp(value, "on") != 0)
        complain(settings, name, value, "on or off");
    return true;
}

void check(Settings& settings) noexcept
{
    char* end = nullptr;
    const unsigned long depth = std::strtoul(settings.stack_depth, &end, 10);
    if (*end || depth < 1 || depth > 256) {
        complain(settings, "VRAMSCOPE_STACK_DEPTH", settings.stack_depth, "a number from 1 to 256");
        settings.max_frames = 64;
    } else {
        settings.max_frames = static_cast<unsigned>(depth);
    }
    bool known = false;
    for (const char* name : {"libunwind", "glibc", "none"})
        known = known || std::strcmp(settings.unwinder, name) == 0;
    if (!known) {
        complain(settings, "VRAMSCOPE_UNWINDER", settings.unwinder, "libunwind, glibc or none");
        std::strcpy(settings.unwinder, "libunwind");
    }
    settings.verify_stacks = is_on(settings, "VRAMSCOPE_VERIFY", settings.verify);
    settings.stacks_of_frees = is_on(settings, "VRAMSCOPE_FREE_STACKS", settings.free_stacks);
}

} // namespace

void read_settings(Settings& result, const char* (*environment)(const char* name)) noexcept
{
    std::memset(&result, 0, sizeof result);
#define VRAMSCOPE_SETTING(name, variable, fallback, help)                                          \
    take(result.name, result, variable, environment(variable), fallback);
#include "tracker/log/settings.def"
    check(result);
}

const Settings& settings() noexcept
{
    static constinit Settings kept{};
    static constinit std::atomic<bool> read{false};
    static constinit capture::Lock reading;
    if (!read.load(std::memory_order_acquire)) {
        const std::lock_guard guard(reading);
        if (!read.load(std::memory_order_relaxed)) {
            read_settings(kept, [](const char* name) -> const char* { return std::getenv(name); });
            read.store(true, std::memory_order_release);
        }
    }
    return kept;
}

} // namespace vramscope::log
