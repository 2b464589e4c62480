// interpose/pool/upstream.hpp — where the pool's memory comes from, as a concept.
//
// It is the driver in a traced program, a counter in tests and in what-if, or a source that fails
// on purpose. The pool calls these with no lock held, and from any thread. Addresses are numbers:
// nothing here reads or writes the memory.
#pragma once

#include <concepts>
#include <cstdint>

#include "interpose/pool/traffic.hpp"

namespace vramscope::pool {

using Address = std::uint64_t;

// Why the pool gives a segment back.
enum class Release : std::uint8_t {
    surplus,   // more is cached than max_cached_bytes
    collected, // VRAMSCOPE_GARBAGE_COLLECTION_THRESHOLD
    pressure,  // memory is short
    asked,     // trim()
};

// Answers are codes of the source: 0 is success; kOutOfMemory makes the pool give back and try
// again; any other goes to the caller as it is.
template <class T>
concept Upstream = requires(T& source, std::uint64_t bytes, Address address, Address& out,
                            int tries)
{
    typename T::Lock; // lock() and unlock(): what guards one pool
    {
        T::kOutOfMemory
        } -> std::convertible_to<int>;
    {
        source.allocate(bytes, out)
        } -> std::same_as<int>;
    {
        source.release(address, Release::asked)
        } -> std::same_as<int>;
    // Waits until nothing queued can use what was freed before the call, and tells Epochs.
    {
        source.synchronise()
        } -> std::same_as<int>;
    // Memory was short: gives back what others than this pool hold of it.
    {
        source.make_room()
        } -> std::same_as<void>;
    // Of every pool that shares this memory; Pool::traffic() is that of one.
    {
        source.traffic()
        } -> std::same_as<Traffic>;
    // Lets other threads go on for a moment, which is longer with each try.
    {
        source.pause(tries)
        } -> std::same_as<void>;
};

} // namespace vramscope::pool
