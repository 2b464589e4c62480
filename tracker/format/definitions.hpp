// tracker/format/definitions.hpp — the records that say what others mean: threads, modules, stacks.
#pragma once

#include <string_view>

#include "tracker/format/enumerations.hpp"
#include "tracker/format/memory.hpp"

namespace vramscope::format {

struct Info {
    static constexpr Layout kLayout{Tag::info, "info", Head::definition, "key, value"};
    std::string_view key;
    std::string_view value;
};

struct Api { // an entry point
    static constexpr Layout kLayout{Tag::api, "api", Head::definition, "id, effect, memory, name"};
    std::uint64_t id = 0;
    Effect effect = Effect::none;
    Memory memory = Memory::none;
    std::string_view name;
};

struct Thread { // the thread that wrote the records after this one
    static constexpr Layout kLayout{Tag::thread, "thread", Head::definition, "index, tid, name"};
    std::uint64_t index = 0;
    std::uint64_t tid = 0;
    std::string_view name;
};

struct ModuleLoaded {
    static constexpr Layout kLayout{Tag::module_loaded, "module_loaded", Head::timed_definition,
                                    "id, bias, first, end, build_id, path"};
    std::uint64_t id = 0;
    Address bias;  // address in the process minus address in the file
    Address first; // it is loaded at [first, end)
    Address end;
    std::string_view build_id; // raw bytes
    std::string_view path;
};

struct ModuleGone {
    static constexpr Layout kLayout{Tag::module_gone, "module_gone", Head::timed_definition,
                                    "module"};
    std::uint64_t module = 0;
};

struct Stack {
    static constexpr Layout kLayout{Tag::stack, "stack", Head::definition,
                                    "id, flags, count, addresses"};
    static constexpr std::uint64_t kTruncated = 1; // flag: the stack went on

    std::uint64_t id = 0;
    std::uint64_t flags = 0;
    std::uint64_t count = 0;
    Addresses addresses;
};

// A code object of Python. A line table that is longer than a text goes on in further records of
// the same id, whose other fields are empty.
struct PythonCode {
    static constexpr Layout kLayout{Tag::python_code, "python_code", Head::definition,
                                    "id, table, first_line, file, name, lines"};
    std::uint64_t id = 0;
    LineTable table = LineTable::locations;
    std::uint64_t first_line = 0;
    std::string_view file;
    std::string_view name;  // qualified where Python knows that (since 3.11)
    std::string_view lines; // raw bytes
};

// A stack with functions of Python: those that its interpreter was running, or those of its origin,
// where a thread does now what was begun in Python before. Its id is one of stacks.
struct PythonStack {
    static constexpr Layout kLayout{Tag::python_stack, "python_stack", Head::definition,
                                    "id, stack, origin, flags, count, frames"};
    static constexpr std::uint64_t kTruncated = 1; // flag: outer functions of Python are missing
    static constexpr std::uint64_t kUnplaced = 2;  // flag: where they lie is not known
    static constexpr std::uint64_t kLeaf = 4;      // flag: the origin of gradients of leaf tensors

    std::uint64_t id = 0;
    // The native frames; with an origin, the frames that ran, which may be of Python too. 0: there
    // are none, and it is an origin.
    std::uint64_t stack = 0;
    std::uint64_t origin = 0; // the stack, with a smaller id, that made what ran; 0: none is known
    std::uint64_t flags = 0;
    std::uint64_t count = 0;
    PythonFrames frames;
};

// What is at an address of a module, in words, so that no file has to be looked into. Calls that
// were inlined there have a record each, the innermost first.
struct FrameName {
    static constexpr Layout kLayout{
        Tag::frame_name, "frame_name", Head::definition,
        "module, offset, flags, function, short_name, file, line, function_line"};
    static constexpr std::uint64_t kInlined = 1; // flag: the next record is of what it lies in
    static constexpr std::uint64_t kNoUnwindTable = 2; // flag: its caller was not to be found

    std::uint64_t module = 0;
    Address offset; // in the file: one less than the address in a stack
    std::uint64_t flags = 0;
    std::string_view function; // demangled; empty: not known, as all that follows
    std::string_view short_name;
    std::string_view file;
    std::uint64_t line = 0;
    std::uint64_t function_line = 0; // where the function begins
};

struct Context {
    static constexpr Layout kLayout{Tag::context, "context", Head::definition,
                                    "id, handle, device, primary"};
    std::uint64_t id = 0;
    Address handle;
    DeviceOrdinal device{};
    bool primary = false;
};

struct Device {
    static constexpr Layout kLayout{Tag::device, "device", Head::definition,
                                    "ordinal, bytes, name"};
    std::uint64_t ordinal = 0;
    std::uint64_t bytes = 0;
    std::string_view name;
};

// It is written when the pool is first seen, which may be long after its creation.
struct Pool {
    static constexpr Layout kLayout{Tag::pool, "pool", Head::definition,
                                    "handle, location_type, location, managed"};
    static constexpr Says kSays[] = {{"", "Where a pool of the driver's lies."},
                                     {"location_type", "As CUmemLocationType numbers it."}};
    Address handle;
    std::int64_t location_type = 0;
    std::int64_t location = 0;
    bool managed = false;
};

} // namespace vramscope::format
