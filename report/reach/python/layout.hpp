// report/reach/python/layout.hpp — where CPython keeps what is read of it, on x86-64.
//
// Offsets in bytes, of release builds. Nobody promises any of this: PythonMemory proves it.
#pragma once

#include <cstdint>

namespace vramscope::report::python {

// How an instance has its attributes.
enum class Attributes : std::uint8_t {
    behind_pointer, // 3.11: an array; a pointer to it is before the object
    behind_odd,     // 3.12: the same, and the pointer is one less
    inside,         // 3.13: behind its members
};

// What differs between minor versions.
struct Layout {
    std::uint8_t minor;
    Attributes attributes;
    std::uint16_t type_keys; // of a class that Python made: the names of its instances' attributes
    std::uint16_t characters;
    std::uint16_t generator_name;
    std::uint16_t code_stack_words;
    std::uint16_t code_locals;
    std::uint16_t frame_code;
    std::uint16_t frame_before;
    // From 3.13 on, these are the runtime's own table's.
    std::uint32_t interpreters; // in _PyRuntime
    std::uint32_t next_interpreter;
    std::uint32_t threads;
    std::uint32_t modules;
    std::uint32_t next_thread;
    std::uint32_t thread_frame; // or the struct that leads to it
    std::uint32_t thread_id;
    std::uint32_t thread_chunk;
    int in_call; // in that struct: the frame; -1: there is none
};

// clang-format off
inline constexpr Layout kLayouts[] = {
    {11, Attributes::behind_pointer, 872, 48, 40, 68, 76, 32, 48, 40, 0, 16, 888, 8, 56, 160, 296, 8},
    {12, Attributes::behind_odd,     880, 40, 32, 64, 72,  0,  8, 40, 0, 72, 944, 8, 56, 144, 232, 0},
    {13, Attributes::inside,         880, 40, 32, 64, 72,  0,  8,  0, 0,  0,   0, 0,  0,   0,   0, -1},
};
// clang-format on

// In _PyRuntime since 3.13: offsets of what is named above.
inline constexpr std::uint32_t kFirstWithTable = 13;
inline constexpr std::uint64_t kTableCookie = 0x7970677562656478; // "xdebugpy"
inline constexpr std::uint64_t kTableFreeThreaded = 16;           // 0: it has the lock
inline constexpr std::uint64_t kTableInterpreters = 40, kTableNextInterpreter = 64;
inline constexpr std::uint64_t kTableThreads = 72, kTableModules = 88;
inline constexpr std::uint64_t kTableNextThread = 168, kTableFrame = 184;
inline constexpr std::uint64_t kTableThreadId = 200, kTableChunk = 208;

inline constexpr std::uint64_t kType = 8, kCount = 16; // in each object; in lists, dicts, texts
inline constexpr std::uint64_t kTypeName = 24, kTypeBytes = 32, kTypeItemBytes = 40;
inline constexpr std::uint64_t kTypeFlags = 168, kTypeDictOffset = 288;
inline constexpr std::uint64_t kIsHeapType = 1 << 9, kHasManagedDict = 1 << 4;
inline constexpr std::uint64_t kHasInlineValues = 1 << 2;
// Before an object: what the collector keeps; before that its attributes, as values or as a dict.
inline constexpr std::uint64_t kCollectorBytes = 16, kAttributeBytes = 16;
inline constexpr std::uint64_t kBeforeObject = 32, kOddValuesBefore = 24;
inline constexpr std::uint64_t kValuesHead = 8; // of those inside an object, and of such a dict

inline constexpr std::uint64_t kListItems = 24;
inline constexpr std::uint64_t kDictKeys = 32, kDictValues = 40;
inline constexpr std::uint64_t kKeysIndexBytes = 9, kKeysKind = 10, kKeysUsed = 24, kKeysHead = 32;
inline constexpr std::uint64_t kGeneralEntry = 24, kTextEntry = 16; // by its kind, 0 and else

inline constexpr std::uint64_t kTextState = 32;
inline constexpr std::uint32_t kTextIsCompactAscii = 3 << 5;

inline constexpr std::uint64_t kModuleDict = 16, kModuleName = 48;
inline constexpr std::uint64_t kFunctionName = 40, kFrameOfObject = 24;
inline constexpr std::uint64_t kWeakCallback = 24;

inline constexpr std::uint64_t kCodeLocalNames = 96, kCodeName = 128, kTupleItems = 24;
inline constexpr std::uint64_t kFrameLocals = 72;

inline constexpr std::uint64_t kChunkBefore = 0, kChunkBytes = 8;

inline constexpr std::uint64_t kPoolBytes = 16384, kPoolHead = 48, kPoolStep = 16;
inline constexpr std::uint32_t kPoolClasses = 32;

} // namespace vramscope::report::python
