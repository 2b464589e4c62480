// tracker/environment/settings.hpp — what the environment asks of the traced process, read once.
//
// Our constructor copies what is set, before the program can start a thread that changes its
// environment; it is read at the first question. A wrong value is reported in one line when the log
// is opened, and its default is used.
#pragma once

#include <atomic>
#include <cstddef>

#include "tracker/environment/settings_values.hpp"

namespace vramscope::log {

inline constexpr std::size_t kComplaintBytes = 256;

struct Settings {
#define VRAMSCOPE_SETTING(field, kind, environment, fallback, scope, valid, help) kind::Value field;
#include "tracker/environment/settings.def"
    // With poison or guard the pool is strict; guard is false where red zones cannot be.
    char complaint[kComplaintBytes]; // about a wrong value; empty: none
    char without_effect[512];        // names settings that have no effect; empty: there are none
    // The pool's settings as given, such as "limit=8GiB". Each ends in '\0'; an empty one
    // ends the list.
    char pool_knobs[kSettingBytes];
};

using Environment = const char* (*)(const char* name);

// Reads the environment into `result`. settings() does so once for the process and keeps it.
void read_settings(Settings& result, Environment environment) noexcept;

// What is wrong with `value` by the row of `environment`; empty if it is valid.
void check_setting(const char* environment, const char* value,
                   char (&complaint)[kComplaintBytes]) noexcept;

struct KeptSettings {
    Settings values;
    std::atomic<bool> read;
};
extern constinit KeptSettings kept_settings;
void keep_settings() noexcept;

// To be called once, with the environment that the process is started with. A process without CUDA
// pays for the copy alone.
[[gnu::cold]] void keep_settings_of(char** environment) noexcept;

// It is cheap: hooks ask it in each call.
inline const Settings& settings() noexcept
{
    if (!kept_settings.read.load(std::memory_order_acquire)) [[unlikely]]
        keep_settings();
    return kept_settings.values;
}

} // namespace vramscope::log
