// report/model/misuse.hpp — frees that were wrong, and all other calls that the driver refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "report/model/call_place.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// What a free that was refused did wrong, as far as the log proves it.
enum class MisuseKind : std::uint8_t {
    double_free,
    never_allocated,
    after_context, // its context was destroyed before
    wrong_api,     // the block is of another kind than what this function frees
    interior_pointer,
    unknown, // events are missing, or too many addresses were misused to follow them all
    none,    // the block was there: the driver had another reason
};
template <>
struct Words<MisuseKind> { // without `none`, which is in no row
    static constexpr format::Word<MisuseKind> kAll[] = {
        {MisuseKind::double_free, "double-free"},
        {MisuseKind::never_allocated, "never-allocated"},
        {MisuseKind::after_context, "free-after-context"},
        {MisuseKind::wrong_api, "wrong-api"},
        {MisuseKind::interior_pointer, "interior-pointer"},
        {MisuseKind::unknown, "unknown"},
    };
};

struct MisuseNumbers {
    MisuseKind kind = MisuseKind::unknown;
    std::uint64_t calls = 0;
    // Of the first call, as are the next four: the address is as the program gave it.
    std::uint64_t address = 0;
    std::uint64_t offset = 0;                     // how far the address is into its block
    std::uint64_t bytes = 0;                      // size of the block
    format::Memory memory = format::Memory::none; // the block's; none: no block is known
    std::uint64_t result = 0;                     // the driver's answer: a CUresult
};

struct Misuse : MisuseNumbers {
    TimedCall call;
    std::uint64_t last_ns = 0;
    std::optional<TimedCall> allocation;
    std::optional<TimedCall> ended; // the free before, or the death of the context
    std::size_t process = 0;        // index into Report::processes

    bool block_known() const noexcept { return memory != format::Memory::none; }
};
template <>
struct Fields<Misuse> {
    static constexpr const char* kName = "misuse";
    static constexpr const char* kSays = "One row per stacks; address, offset, bytes and the times "
                                         "of its calls are those of the first.";
    static constexpr auto known = &Misuse::block_known;
    static constexpr FieldList kAll{
        Field{"kind", &Misuse::kind,
              "double-free: it was freed before. never-allocated: no block was ever seen there. "
              "free-after-context: its context was destroyed before, and took it along. wrong-api: "
              "the block is of another kind than this function frees. interior-pointer: offset "
              "bytes into a block. unknown: events are missing, so the log does not tell."},
        Field{"calls", &Misuse::calls}.at_least(1),
        Field{"address", Hex{&Misuse::address}, "Pointer or handle, as the program gave it."},
        Field{"memory", When{known, &Misuse::memory}, "Of the block; null: no block is known."},
        Field{"offset", When{known, &Misuse::offset}},
        Field{"bytes", When{known, &Misuse::bytes}},
        Field{"result", &Misuse::result, "The driver's answer, a CUresult."},
        Field{"result_name", ResultName{&Misuse::result}},
        Field{"last_ns", &Misuse::last_ns},
        Field{"process", &Misuse::process, "Index into processes."},
        Field{"call", &Misuse::call},
        Field{"allocation", &Misuse::allocation},
        Field{"ended", &Misuse::ended, "The free before, or the call that destroyed the context."},
    };
};

struct FailedNumbers {
    std::uint64_t result = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;                // bytes asked for by all calls together
    std::uint64_t least_bytes = UINT64_MAX; // the least of any call; 0: not known, or no allocation
    std::uint64_t most_bytes = 0;

    void add(const FailedNumbers& more) // of the same result
    {
        calls += more.calls;
        bytes += more.bytes;
        least_bytes = std::min(least_bytes, more.least_bytes);
        most_bytes = std::max(most_bytes, more.most_bytes);
    }
};

struct FailedCall : CallPlace, FailedNumbers {
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    std::size_t process = 0;
};
template <>
struct Fields<FailedCall> {
    static constexpr const char* kName = "failed_call";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
            Field{"result", &FailedCall::result},
            Field{"result_name", ResultName{&FailedCall::result}},
            Field{"calls", &FailedCall::calls}.at_least(1),
            Field{"bytes", &FailedCall::bytes, "Asked for, by all calls together."},
            Field{"least_bytes", &FailedCall::least_bytes,
                  "By one call. 0: it asked for none, or it is not known for how much."}
                .since(6),
            Field{"most_bytes", &FailedCall::most_bytes, "By one call."}.since(6),
            Field{"first_ns", &FailedCall::first_ns},
            Field{"last_ns", &FailedCall::last_ns},
            Field{"process", &FailedCall::process, "Index into processes."},
        },
        kStack);
};

} // namespace vramscope::report
