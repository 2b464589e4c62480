// tracker/format/field_types.hpp — what a record's fields are made of, and what stands before them.
#pragma once

#include <string_view>

#include "tracker/format/varint.hpp"

namespace vramscope::format {

enum class Tag : std::uint8_t;

// What stands before the fields of a record.
enum class Head : std::uint8_t {
    definition,       // nothing: it says what others mean
    timed_definition, // ticks; it says what others mean, too
    timed,            // ticks
    call,             // the id of an entry point, ticks
    plain,            // ticks that leave the chunk's deltas alone: records since 3.1
};

constexpr bool is_definition(Head head) noexcept
{
    return head == Head::definition || head == Head::timed_definition;
}

struct Layout {
    static constexpr std::size_t kAll = SIZE_MAX;

    Tag tag;
    std::string_view name; // its word in README.md and in JSON
    Head head;
    std::string_view fields;     // their names, with a comma between them
    std::size_t at_least = kAll; // how many an earlier minor version has at least
};

// What a record means, or one of its fields: a sentence of the schema of JSON lines. A record has
// its own in a list beside its layout, kSays, which the tracer never names and so does not hold.
struct Says {
    std::string_view field; // empty: the record itself
    std::string_view sentence;
};

// A number that means something: how it is shown follows from its type.
enum class Meaning : std::uint8_t { address, stack, entry_point, device, ticks, result };

template <Meaning kMeaning, typename Value = std::uint64_t>
struct Number {
    Value value = 0;
    constexpr Number() = default;
    constexpr Number(Value number) noexcept : value(number) {}
    constexpr operator Value() const noexcept { return value; }
};
using Address = Number<Meaning::address>; // an address or a handle
using StackId = Number<Meaning::stack>;   // 0: not captured
using ApiId = Number<Meaning::entry_point>;
using DeviceOrdinal = Number<Meaning::device, std::int64_t>; // -1: not known
using Ticks = Number<Meaning::ticks>;                        // a span of time
using Result = Number<Meaning::result>;                      // a CUresult

// Return addresses, innermost first: the last field of a stack. The writer has them as numbers, the
// reader as bytes: the first as it is, the others as signed differences to the one before.
struct Addresses {
    const std::uintptr_t* first = nullptr; // the stack's `count` says how many
    std::string_view coded;

    // False: the bytes hold fewer than `count`.
    template <typename Visit>
    bool visit(std::uint64_t count, Visit visit) const
    {
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(coded.data());
        Cursor in(begin, begin + coded.size());
        std::uint64_t address = 0;
        for (std::uint64_t at = 0; at < count && in.ok(); ++at) {
            address =
                at == 0 ? in.varint() : address + static_cast<std::uint64_t>(in.signed_varint());
            visit(address);
        }
        return in.ok();
    }
};

// A function of Python that was running.
struct PythonFrame {
    std::uint64_t native = 0; // index of the native frame, the interpreter's loop, that runs it
    std::uint64_t code = 0;   // id of its code object
    std::uint64_t offset = 0; // where the instruction is, in bytes of the bytecode
};

// Functions of Python, innermost first: the last field of a Python stack. Each is the difference of
// its native frame to that of the one before, its code and its offset.
struct PythonFrames {
    const PythonFrame* first = nullptr; // the stack's `count` says how many
    std::string_view coded;

    // False: the bytes hold fewer than `count`.
    template <typename Visit>
    bool visit(std::uint64_t count, Visit visit) const
    {
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(coded.data());
        Cursor in(begin, begin + coded.size());
        PythonFrame frame;
        for (std::uint64_t at = 0; at < count && in.ok(); ++at) {
            frame.native += in.varint();
            frame.code = in.varint();
            frame.offset = in.varint();
            visit(frame);
        }
        return in.ok();
    }
};

} // namespace vramscope::format
