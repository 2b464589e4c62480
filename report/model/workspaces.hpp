// report/model/workspaces.hpp — memory that libraries keep for themselves and that grows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "report/model/growth.hpp"

namespace vramscope::report {

// What one library of NVIDIA's took for itself (CallPlace::library: "cuBLAS"), more and more of it
// up to the end of the work. The call is the one that grows the fastest.
struct Workspace : CallPlace {
    std::uint64_t stacks = 0; // call stacks that grow
    std::uint64_t bytes = 0;  // how much they all grew by while they were watched
    std::uint64_t blocks = 0;
    GrowthRate rate;          // of the call alone
    std::int32_t device = -1; // -1: not known
    std::size_t process = 0;  // index into Report::processes
};
template <>
struct Fields<Workspace> {
    static constexpr const char* kName = "workspace";
    static constexpr const char* kSays = "One library on one device.";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"library", &CallPlace::library, "As its maker calls it: \"cuBLAS\"."}.not_empty(),
            Field{"stacks", &Workspace::stacks, "Call stacks that grow; each is in growth too."}
                .at_least(1),
            Field{"bytes", &Workspace::bytes, "That they all grew by, after the warm-up."},
            Field{"blocks", &Workspace::blocks},
            Field{"rate", &Workspace::rate, "Of the call stack that grows the fastest."},
            Field{"device", Ordinal{&Workspace::device}},
            Field{"process", &Workspace::process, "Index into processes."},
            kFingerprint,
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
        },
        kStack);
};

} // namespace vramscope::report
