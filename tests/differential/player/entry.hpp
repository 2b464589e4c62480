// tests/differential/player/entry.hpp — every function that a sequence calls, by all its doors.
//
// An entry is made on first use, by name: by the linked symbol, by dlsym, and for a row of the hook
// table by cuGetProcAddress with the row's base name, version and stream form. Calls are counted,
// so that the runner can tell which rows no sequence reached.
#pragma once

#include <cstdint>
#include <cstdio>

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

namespace differential {

enum class Door { linked, dlsym, get_proc_address };
constexpr unsigned kDoors = 3;
constexpr const char* kDoorNames[kDoors] = {"linked", "dlsym", "cuGetProcAddress"};

struct Entry {
    const char* name;
    void* address[kDoors];
    bool hooked;
    bool runtime; // cuda*: its driver calls are the runtime's, and hooked ones among them
    std::uint64_t calls[kDoors]{};
    std::uint64_t successes = 0;
};

// `linked` is null for what the program is not linked with.
Entry& entry_of(const char* name, void* linked);
// Makes all entries of the hook table, once and before anything is written down.
void look_up_rows();
// The name of a function by its address, however it was reached; null: not one of a driver.
const char* name_of_function(void* address);
// One JSON object: for each row of the hook table that the toolkit has, how often it was called, by
// door, and succeeded.
void write_row_counts(std::FILE* out);

} // namespace differential
