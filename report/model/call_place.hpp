// report/model/call_place.hpp — a call of an entry point, as a reader wants to see it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "report/model/fields.hpp"
#include "report/model/frame.hpp"

namespace vramscope::report {

// Why the outermost frame of a stack is not the program's own beginning, nor a thread's.
enum class StackCut {
    none,            // it is, as far as is known
    no_unwind_table, // the code there has no unwind table, so its caller is not known
    no_module,       // the code there is in no file, so its caller is not known
    go_stack,        // its callers are on a stack of Go's own
};

template <>
struct Words<StackCut> {
    static constexpr const char* kName = "stack_cut";
    static constexpr const char* kSays =
        "Why nobody knows what called the outermost frame. no-unwind-table: the code there was "
        "compiled without one. no-module: it is in no file. go-stack: its callers are on a stack "
        "of Go's own. null: nothing is missing, as far as is known; see stack_truncated.";
    static constexpr format::Word<StackCut> kAll[] = {
        {StackCut::no_unwind_table, "no-unwind-table"},
        {StackCut::no_module, "no-module"},
        {StackCut::go_stack, "go-stack"},
        {StackCut::none, nullptr},
    };
};

// A call of an entry point, as a reader wants to see it.
struct CallPlace {
    std::string api;              // what the user called: cudaMalloc
    std::string entry_point;      // what was hooked: cuMemAlloc_v2; empty: the log does not say
    SharedFrames stack;           // the frames that were asked for, innermost first
    std::size_t own = 0;          // index of the innermost frame of the program's own code
    bool stack_truncated = false; // the outermost frames were not recorded
    StackCut cut = StackCut::none;
    // Of the code that called the driver or the runtime, whether its frame is shown or not: the
    // file of its module; and the library of NVIDIA's that it belongs to, or took memory for,
    // "cuBLAS".
    std::string module;
    std::string library;
    std::string fingerprint; // see fingerprint.hpp; of visible frames, those of libraries too
    std::optional<std::size_t> suppression; // index of the rule that it matches

    std::string key() const; // equal keys: the same call to a reader
    // Calls with one key may differ in frames that are not shown: the least fingerprint is kept.
    void merge(const CallPlace& same);
    const Frame* own_frame() const; // nullptr: there is no stack
    std::size_t own_in_stack() const { return std::min(own, stack.size()); }
};

inline constexpr Field kFingerprint =
    Field{"fingerprint", OrNull{&CallPlace::fingerprint},
          "The same in every run, whatever the addresses, folders, devices and lines of other "
          "functions."}
        .pattern("^[0-9a-f]{16}$");

inline constexpr FieldList kStackFrames{
    Field{"stack", &CallPlace::stack, "Innermost first."},
    Field{
        "own", IfAny{&CallPlace::own_in_stack},
        "Index of the frame that a reader is told first; absent: 0. Those before it are functions "
        "of the program's that allocate for others, or with --all-frames what lies below it."}
        .since(6),
};

// A call's stack is the end of many rows.
inline constexpr FieldList kStackEnd{
    Field{"stack_truncated", &CallPlace::stack_truncated},
    Field{"stack_cut", &CallPlace::cut}.since(6),
};
inline constexpr auto kStack = joined(kStackFrames, kStackEnd);

struct TimedCall : CallPlace {
    std::uint64_t at_ns = 0; // since the log was opened
};
template <>
struct Fields<TimedCall> {
    static constexpr const char* kName = "call";
    static constexpr const char* kSays = "A call with its stack.";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
            Field{"at_ns", &TimedCall::at_ns},
        },
        kStack);
};

// Adds to a key what makes two frames the same to a reader: the place in the source, as far as it
// is known; else the place in the module.
void append_place(std::string& key, const Frame& frame);

// What makes two frames those of one function.
std::string function_key(const Frame& frame);

} // namespace vramscope::report
