// report/text/lines.hpp — the lines that all views have: titles, doubts and the next step.
#pragma once

#include <string>
#include <string_view>

#include "report/text/output.hpp"

namespace vramscope::report {

std::string device_name(std::int32_t device); // "device 0"; "device ?": not known
// "Device 0: NVIDIA H100, 80 GiB"; with the process, where there are several.
std::string device_title(const Report& report, const Process& process, std::int32_t device,
                         std::uint64_t total_bytes);

// Where the programs ran: each driver once, with its devices.
void write_drivers(TextOutput& out, const Report& report, std::string_view prefix);

// Why the log does not show the whole run.
void write_doubts(TextOutput& out, const Report& report);

// Which files gave no names, and how they are found.
void write_unread_files(TextOutput& out, const Report& report);

// What a command is given to tell more of the same: files of suppressions, where the program's
// files are, and the first few logs.
std::string arguments_of(const Report& report, std::size_t most_logs = 4);
void write_next(TextOutput& out, const char* command, const Report& report);

// "LEAKS: 2 MiB …", its first words in colour.
std::string capitals(std::string text); // as the first words of a headline are
// "       64 MiB in 4 blocks     cudaMalloc  load() train.cu:30", behind `indent`.
void write_held_by(TextOutput& out, std::string_view indent, const Leak& row);
void write_headline(TextOutput& out, std::string_view prefix, const Headline& headline);

} // namespace vramscope::report
