// report/model/objects.hpp — objects of the driver's: how many were made, ended and left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "report/model/leaks.hpp"

namespace vramscope::report {

// Of one kind, in one process.
struct ObjectTotal {
    format::Memory object = format::Memory::none;
    std::uint64_t made = 0;
    std::uint64_t ended = 0; // by the program: others went with their contexts
    std::uint64_t alive = 0; // at the end
};
template <>
struct Fields<ObjectTotal> {
    static constexpr const char* kName = "object_total";
    static constexpr FieldList kAll{
        Field{"object", &ObjectTotal::object},
        Field{"made", &ObjectTotal::made},
        Field{"ended", &ObjectTotal::ended, "By the program: others went with their contexts."},
        Field{"alive", &ObjectTotal::alive, "At the end."},
    };
};

// What the driver took of the device for the objects of a stack, of those around which it was asked
// how much is free: by that it takes and gives back in steps, and by how often others moved.
struct ObjectBytes {
    static constexpr std::uint64_t kLeastForEach = 8;

    std::uint64_t objects = 0;
    std::uint64_t bytes = 0; // by how much less was free, all together
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    bool tells_of_each() const noexcept { return objects >= kLeastForEach; }
    std::uint64_t least_each() const noexcept { return least / objects; }
    std::uint64_t most_each() const noexcept { return (most + objects - 1) / objects; }
};
template <>
struct Fields<ObjectBytes> {
    static constexpr const char* kName = "object_bytes";
    static constexpr FieldList kAll{
        Field{"objects", &ObjectBytes::objects, "Around which the driver was asked what is free."},
        Field{"bytes", &ObjectBytes::bytes, "By how much less was free, all together."},
        Field{"least", &ObjectBytes::least,
              "Of all of these together: the driver takes memory in steps of 2 MiB, and other "
              "processes may have moved meanwhile."},
        Field{"most", &ObjectBytes::most},
        Field{"least_each", When{&ObjectBytes::tells_of_each, &ObjectBytes::least_each},
              "Of each, as a mean; null: fewer than 8 were measured."},
        Field{"most_each", When{&ObjectBytes::tells_of_each, &ObjectBytes::most_each}},
    };
};

// Of one kind, made by one call stack on one device. Its blocks are those that are alive at the
// end, and its class is theirs; what piled up grows, though all of it ended with the program.
struct ObjectRow : Leak {
    std::uint64_t made = 0;
    std::uint64_t ended = 0;
    std::uint64_t at_once = 0;        // of growing ones so many were alive, at least
    std::optional<ObjectBytes> taken; // none: the driver was not asked
    bool known = false;               // by a rule of suppression: no finding

    bool is_left() const noexcept { return blocks > 0; }
    bool piles_up() const noexcept { return leak_class == LeakClass::growing && !known; }
    bool has_class() const noexcept { return is_left() || piles_up(); }
    std::uint64_t most_known() const noexcept { return std::max(blocks, at_once); }
    // Of what piles up: those that are left, or if none is, those that were there at once.
    std::uint64_t found() const noexcept { return is_left() ? blocks : at_once; }
};
template <>
struct Fields<ObjectRow> {
    static constexpr const char* kName = "object";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"object", &ObjectRow::memory, "What it is: stream, event, module, pool, …"},
            Field{"made", &ObjectRow::made},
            Field{"stacks", &ObjectRow::stacks,
                  "Of how many call stacks of one function it is the sum, where these pile up "
                  "together, and each has too few to show it; the stack is that of the first."}
                .at_least(1)
                .since(6),
            Field{"ended", &ObjectRow::ended,
                  "By the program: others went with their contexts, or their end was not seen."},
            Field{"alive", &ObjectRow::blocks, "At the end."},
            Field{"taken", &ObjectRow::taken,
                  "Of the device's memory, by the driver for these objects; null: it was not "
                  "asked."}
                .since(6),
            Field{
                "alive_at_once", If{&ObjectRow::piles_up, &ObjectRow::at_once},
                "Of growing ones: so many at least were alive, though all may have been destroyed "
                "after the last allocation, or gone with their context."}
                .since(6),
            Field{"suppressed", &ObjectRow::known, "By a rule: that they pile up is no finding."}
                .since(6),
            Field{"class", When{&ObjectRow::has_class, &ObjectRow::leak_class},
                  "Of those that are alive, as in leaks, or growing; null: none is, and none "
                  "piled up."},
            Field{"growth", When{&ObjectRow::grows, &ObjectRow::rate},
                  "Of growing and unclear ones."},
            kFingerprint,
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
            Field{"library", OrNull{&CallPlace::library},
                  "Of NVIDIA's, that made it for itself: \"cuBLAS\"; null: the program did."},
            Field{"device", Ordinal{&ObjectRow::device}},
            Field{"first_ns", &ObjectRow::first_ns, "When the first was made …"},
            Field{"last_ns", &ObjectRow::last_ns, "… and the last."},
            Field{"process", &ObjectRow::process, "Index into processes."},
        },
        kStack);
};

} // namespace vramscope::report
