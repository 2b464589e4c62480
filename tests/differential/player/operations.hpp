// tests/differential/player/operations.hpp — what a sequence is made of.
//
// An operation is one call, or the few that belong together, with arguments that are mostly right.
// To add one for a new row of the hook table: a function in the file of its family, a line in that
// file's table; the model is told what a success means.
#pragma once

#include <span>

#include "tests/differential/player/world.hpp"

namespace differential {

struct Operation {
    unsigned weight;
    void (*run)(World& world);
};

// By file: memory.cpp, host.cpp, arrays.cpp, ...; runtime.cpp only where the profile says so.
std::span<const Operation> memory_operations();
std::span<const Operation> host_operations();
std::span<const Operation> array_operations();
std::span<const Operation> stream_operations();
std::span<const Operation> physical_operations();
std::span<const Operation> context_operations();
std::span<const Operation> graph_operations();
std::span<const Operation> foreign_operations();
std::span<const Operation> green_operations();
std::span<const Operation> query_operations();
std::span<const Operation> fallback_operations();
std::span<const Operation> runtime_operations();

// Blocks are looked for by what is true of their kind: here, that it is this one.
template <Kind kKind>
constexpr bool is(Kind kind)
{
    return kind == kKind;
}

constexpr bool freed_by_address(Kind kind)
{
    return kind == Kind::device || kind == Kind::pitched || kind == Kind::managed ||
           kind == Kind::async || kind == Kind::graph || kind == Kind::graph_launch ||
           kind == Kind::foreign;
}

// Handles of the blocks of another process, untraced, whose memory can be opened. That process ends
// with this one.
const std::vector<CUipcMemHandle>& exported_by_another();
// Runs in that process: writes the handles to its output and waits for the end of its input.
int export_memory();

// Gives back most of what the sequence left, and makes the next one begin as this one did.
void clean_up(World& world, std::uint64_t seed, Relay& relay);

// Arms a failure of one of the driver's functions.
void arm_fault(World& world);
void clear_faults();
// Finds the simulated GPU's controls. False: there is no simulated GPU.
bool find_controls(void (*observer)(const char*, int));

} // namespace differential
