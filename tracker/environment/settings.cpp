// tracker/environment/settings.cpp — the environment, row by row of settings.def.
#include "tracker/environment/settings.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tracker/capture/loader.hpp"
#include "tracker/capture/lock.hpp"

namespace vramscope::log {
namespace {

enum class Scope : std::uint8_t { any, memory, pooled, split, inner };

void complain(char (&complaint)[kComplaintBytes], const char* environment, const char* value,
              const char* valid) noexcept
{
    if (!complaint[0])
        std::snprintf(complaint, sizeof complaint, "%s=%.64s is not valid: use %s", environment,
                      value, valid);
}

// Whether the program's user has set this to something that is used.
template <class Kind>
bool take(typename Kind::Value& field, char (&complaint)[kComplaintBytes], const char* environment,
          const char* value, const char* fallback, const char* valid) noexcept
{
    const bool given = value && *value;
    if (given && Kind::read(value, field))
        return true;
    if (given)
        complain(complaint, environment, value, valid);
    Kind::read(fallback, field);
    return false;
}

bool has_effect(Scope scope, PoolMode mode) noexcept
{
    return scope == Scope::split ? mode == PoolMode::split
                                 : scope != Scope::pooled || mode != PoolMode::off;
}

void add_in_vain(Settings& settings, const char* environment) noexcept
{
    std::strcat(settings.without_effect, settings.without_effect[0] ? ", " : "");
    std::strcat(settings.without_effect, environment);
}

// VRAMSCOPE_MAX_CACHED is the pool's max_cached. `room` is what is left for it and the empty end.
void add_knob(char*& end, std::size_t room, const char* environment, const char* value) noexcept
{
    const char* name = environment + std::strlen("VRAMSCOPE_");
    const std::size_t length = std::strlen(name) + 1 + std::strlen(value);
    if (std::strcmp(name, "POOL_SYNC") == 0 || length + 2 > room)
        return;
    for (; *name; ++name)
        *end++ = static_cast<char>(std::tolower(static_cast<unsigned char>(*name)));
    *end++ = '=';
    end = std::strcpy(end, value) + std::strlen(value) + 1;
}

// Each valid setting for memory and the pool either counts as a knob, or has no effect.
void sort_knobs(Settings& settings, Environment environment, const bool* given) noexcept
{
    char* end = settings.pool_knobs;
    const auto sort = [&](Scope scope, const char* name) {
        if (!*given++ || scope == Scope::any || scope == Scope::inner)
            return;
        if (!has_effect(scope, settings.pool_mode))
            add_in_vain(settings, name);
        else
            add_knob(end,
                     sizeof settings.pool_knobs -
                         static_cast<std::size_t>(end - settings.pool_knobs),
                     name, environment(name));
    };
#define VRAMSCOPE_SETTING(field, kind, name, fallback, scope, valid, help) sort(Scope::scope, name);
#include "tracker/environment/settings.def"
    if (settings.without_effect[0])
        std::strcat(settings.without_effect, settings.pool_mode == PoolMode::off
                                                 ? ": no effect with VRAMSCOPE_POOL=off"
                                                 : ": no effect with VRAMSCOPE_POOL=cache");
}

// What keep_settings_of() copied: "NAME=value", each with its end, and an empty one after the last.
struct Start {
    static constexpr std::size_t kMostBytes = 4096;
    bool copied;
    char variables[kMostBytes];
};
constinit Start start{};

// As getenv(), of what was copied.
[[gnu::cold]] const char* at_start(const char* name) noexcept
{
    const std::size_t length = std::strlen(name);
    for (const char* at = start.variables; *at; at += std::strlen(at) + 1)
        if (std::strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return nullptr;
}

const char* environment_now(const char* name) noexcept
{
    return std::getenv(name);
}

// False: there is no room for all of it. It calls no function, see capture::next_variable().
[[gnu::cold]] bool copy_settings(char** environment) noexcept
{
    char* end = start.variables;
    while (const char* variable = capture::next_variable<"VRAMSCOPE_">(environment)) {
        do {
            if (end == start.variables + Start::kMostBytes - 1)
                return false;
        } while ((*end++ = *variable++) != '\0');
    }
    *end = '\0';
    return true;
}

} // namespace

constinit KeptSettings kept_settings{};

void read_settings(Settings& result, Environment environment) noexcept
{
    std::memset(static_cast<void*>(&result), 0, sizeof result);
    const bool given[] = {
#define VRAMSCOPE_SETTING(field, kind, name, fallback, scope, valid, help)                         \
    take<kind>(result.field, result.complaint, name, environment(name), fallback, valid),
#include "tracker/environment/settings.def"
    };
    sort_knobs(result, environment, given);
    result.guard = result.guard && result.pool_mode == PoolMode::split;
    result.pool_strict = result.pool_strict || result.poison >= 0 || result.guard;
}

void check_setting(const char* environment, const char* value,
                   char (&complaint)[kComplaintBytes]) noexcept
{
    complaint[0] = '\0';
#define VRAMSCOPE_SETTING(field, kind, name, fallback, scope, valid, help)                         \
    if (std::strcmp(environment, name) == 0) {                                                     \
        kind::Value field;                                                                         \
        take<kind>(field, complaint, name, value, fallback, valid);                                \
    }
#include "tracker/environment/settings.def"
}

void keep_settings() noexcept
{
    static constinit capture::Lock reading;
    const std::lock_guard guard(reading);
    if (kept_settings.read.load(std::memory_order_relaxed))
        return;
    read_settings(kept_settings.values, start.copied ? &at_start : &environment_now);
    kept_settings.read.store(true, std::memory_order_release);
}

void keep_settings_of(char** environment) noexcept
{
    start.copied = copy_settings(environment);
    if (!start.copied)
        keep_settings();
}

} // namespace vramscope::log
