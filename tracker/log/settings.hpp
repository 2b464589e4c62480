// tracker/log/settings.hpp — what the environment asks of the traced process, read once.
//
// The values are copied at the first call (our constructor makes it), before the program can start
// a thread that changes its environment. A wrong value is told in one line, when the log is opened,
// and its default is used.
#pragma once

#include <cstddef>

namespace vramscope::log {

inline constexpr std::size_t kSettingBytes = 1024;

struct Settings {
#define VRAMSCOPE_SETTING(name, environment, fallback, help) char name[kSettingBytes];
#include "tracker/log/settings.def"
    unsigned max_frames; // stack_depth as a number
    bool verify_stacks;
    bool stacks_of_frees;
    char complaint[256]; // about a wrong value; empty: none
};

const Settings& settings() noexcept;

// Reads the environment into `result`; settings() is this over the process's own, kept.
void read_settings(Settings& result, const char* (*environment)(const char* name)) noexcept;

} // namespace vramscope::log
