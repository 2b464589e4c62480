// report/reach/python_layout.hpp — where CPython 3.11 keeps what is read of it, on x86-64.
//
// Offsets in bytes, of release builds. Nobody promises any of this: PythonMemory proves it.
#pragma once

#include <cstdint>

namespace vramscope::report::python {

inline constexpr std::uint32_t kKnownVersion = 0x030b; // of Py_Version, its upper half

inline constexpr std::uint64_t kType = 8, kCount = 16; // in each object; in lists, dicts, texts
inline constexpr std::uint64_t kTypeName = 24, kTypeFlags = 168, kTypeKeys = 872;
inline constexpr std::uint64_t kTypeDictOffset = 288;
inline constexpr std::uint64_t kTypeBytes = 32, kTypeItemBytes = 40;
inline constexpr std::uint64_t kIsHeapType = 1 << 9, kHasManagedDict = 1 << 4;
// Before an object: what the collector keeps; before that its attributes, as values or as a dict.
inline constexpr std::uint64_t kCollectorBytes = 16, kAttributeBytes = 16;
inline constexpr std::uint64_t kValuesBefore = 32;

inline constexpr std::uint64_t kListItems = 24;
inline constexpr std::uint64_t kDictKeys = 32, kDictValues = 40;
inline constexpr std::uint64_t kKeysIndexBytes = 9, kKeysKind = 10, kKeysUsed = 24, kKeysHead = 32;
inline constexpr std::uint64_t kGeneralEntry = 24, kTextEntry = 16; // by its kind, 0 and else

inline constexpr std::uint64_t kTextState = 32, kTextCharacters = 48;
inline constexpr std::uint32_t kTextIsCompactAscii = 3 << 5;

inline constexpr std::uint64_t kModuleDict = 16, kModuleName = 48;
inline constexpr std::uint64_t kFunctionName = 40, kGeneratorName = 40, kFrameOfObject = 24;
inline constexpr std::uint64_t kGeneratorFrame = 80;
inline constexpr std::uint64_t kWeakCallback = 24;

inline constexpr std::uint64_t kCodeStackWords = 68, kCodeLocals = 76, kCodeLocalNames = 96;
inline constexpr std::uint64_t kCodeName = 128, kTupleItems = 24;
inline constexpr std::uint64_t kFrameCode = 32, kFrameBefore = 48, kFrameLocals = 72;

inline constexpr std::uint64_t kInterpreters = 40; // in _PyRuntime: the first one
inline constexpr std::uint64_t kNextInterpreter = 0, kThreads = 16, kModules = 888;
inline constexpr std::uint64_t kNextThread = 8, kThreadCall = 56, kThreadId = 160;
inline constexpr std::uint64_t kThreadChunk = 296, kCallFrame = 8;
inline constexpr std::uint64_t kChunkBefore = 0, kChunkBytes = 8;

inline constexpr std::uint64_t kPoolBytes = 16384, kPoolHead = 48, kPoolStep = 16;
inline constexpr std::uint32_t kPoolClasses = 32;

} // namespace vramscope::report::python
