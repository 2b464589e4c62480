// report/reach/python/layout.hpp — where CPython keeps what is read of it, on x86-64.
//
// Offsets in bytes, of release builds. Nobody promises any of this: PythonMemory proves it.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::report::python {

// How an instance has its attributes.
enum class Attributes : std::uint8_t {
    in_dict,        // up to 3.10: in a dict alone, to which a word inside leads
    behind_pointer, // 3.11: an array; a pointer to it is before the object
    behind_odd,     // 3.12: the same, and the pointer is one less
    inside,         // since 3.13: behind its members
};

// Where a function has its locals while it runs.
enum class Frames : std::uint8_t {
    objects, // up to 3.10: in an object of type frame
    chunks,  // in pieces of memory that a thread has for that
};

// What differs between minor versions.
struct Layout {
    std::uint8_t minor;
    Attributes attributes;
    Frames frames;
    std::uint16_t pool_bytes;
    std::uint16_t type_keys; // of a class that Python made: the names of its instances' attributes
    std::uint16_t characters;
    std::uint16_t tuple_items;
    std::uint16_t function_name;
    std::uint16_t generator_name;
    std::uint16_t code_stack_words;
    std::uint16_t frame_code;
    std::uint16_t frame_before;
    std::uint16_t frame_locals;
    // From 3.13 on, these are the runtime's own table's.
    std::uint32_t interpreters; // in _PyRuntime
    std::uint32_t next_interpreter;
    std::uint32_t threads;
    std::uint32_t modules;
    std::uint32_t next_thread;
    std::uint32_t thread_frame; // or the struct that leads to it
    std::uint32_t thread_id;    // the kernel's; where frames are objects, the C library's
    std::uint32_t thread_chunk;
    int in_call; // in that struct: the frame; -1: there is none
};

// clang-format off
inline constexpr Layout kLayouts[] = {
    { 8, Attributes::in_dict,        Frames::objects,  4096, 872, 48, 24, 104, 56, 32, 32, 24, 360, 32, 0,  8,  56, 8,  24, 176,   0, -1},
    { 9, Attributes::in_dict,        Frames::objects,  4096, 864, 48, 24, 104, 56, 32, 32, 24, 360, 32, 0,  8, 856, 8,  24, 176,   0, -1},
    {10, Attributes::in_dict,        Frames::objects, 16384, 872, 48, 24,  40, 48, 32, 32, 24, 352, 32, 0,  8, 856, 8,  24, 176,   0, -1},
    {11, Attributes::behind_pointer, Frames::chunks,  16384, 872, 48, 24,  40, 40, 68, 32, 48,  72, 40, 0, 16, 888, 8,  56, 160, 296,  8},
    {12, Attributes::behind_odd,     Frames::chunks,  16384, 880, 40, 24,  40, 32, 64,  0,  8,  72, 40, 0, 72, 944, 8,  56, 144, 232,  0},
    {13, Attributes::inside,         Frames::chunks,  16384, 880, 40, 24,  40, 32, 64,  0,  8,  72,  0, 0,  0,   0, 0,   0,   0,   0, -1},
    {14, Attributes::inside,         Frames::chunks,  16384, 880, 40, 32,  40, 32, 64,  0,  8,  80,  0, 0,  0,   0, 0,   0,   0,   0, -1},
    {15, Attributes::inside,         Frames::chunks,  16384, 888, 40, 32,  40, 32, 64,  0,  8,  80,  0, 0,  0,   0, 0,   0,   0,   0, -1},
};
// clang-format on

// In _PyRuntime since 3.13: where it has the offsets of what is named above.
struct RuntimeTable {
    std::uint8_t minor;
    std::uint16_t interpreters, next_interpreter, threads, modules;
    std::uint16_t next_thread, thread_frame, thread_id, thread_chunk;
};

// clang-format off
inline constexpr RuntimeTable kRuntimeTables[] = {
    {13, 40, 64, 72, 88, 168, 184, 200, 208},
    {14, 40, 64, 72, 96, 192, 208, 224, 232},
    {15, 40, 64, 72, 96, 192, 208, 248, 256},
};
// clang-format on
inline constexpr std::uint64_t kTableCookie = 0x7970677562656478; // "xdebugpy"
inline constexpr std::uint64_t kTableFreeThreaded = 16;           // 0: it has the lock

// Of the keys of a dict: what follows their head and a table of indices.
struct KeysLayout {
    std::uint64_t used;
    std::uint64_t head_bytes;
    std::uint64_t entry_bytes, key; // of an entry; the value follows the key
};
// Up to 3.10 of all keys; since then of keys that are not all texts, and of those that are.
inline constexpr KeysLayout kOldKeys{32, 40, 24, 8};
inline constexpr KeysLayout kGeneralKeys{24, 32, 24, 8}, kTextKeys{24, 32, 16, 0};
inline constexpr std::uint64_t kKeysIndexBytes = 9, kKeysKind = 10; // a logarithm; 0: general
inline constexpr std::uint64_t kOldKeysIndices = 8;                 // how many

// In a word of a frame's that leads to an object, and does not count as a reference.
inline constexpr std::uint8_t kBorrowedSince = 14;
inline constexpr std::uint64_t kBorrowed = 1;

inline constexpr std::uint64_t kType = 8, kCount = 16; // in each object; in lists, dicts, texts
inline constexpr std::uint64_t kReferencesMask = 0xffffffffffff; // of its first word; flags above
inline constexpr std::uint64_t kTypeName = 24, kTypeBytes = 32, kTypeItemBytes = 40;
inline constexpr std::uint64_t kTypeFlags = 168, kTypeBase = 256, kTypeDictOffset = 288;
inline constexpr std::uint64_t kIsHeapType = 1 << 9, kHasManagedDict = 1 << 4;
inline constexpr std::uint64_t kHasInlineValues = 1 << 2;
inline constexpr std::uint64_t kIsInt = 1 << 24, kIsList = 1 << 25, kIsTuple = 1 << 26,
                               kIsDict = 1 << 29, kIsType = 1ULL << 31; // or of one
// Before an object: what the collector keeps; before that its attributes, as values or as a dict.
inline constexpr std::uint64_t kCollectorBytes = 16, kAttributeBytes = 16;
inline constexpr std::uint64_t kBeforeObject = 32, kOddValuesBefore = 24;
inline constexpr std::uint64_t kValuesHead = 8; // of those inside an object, and of such a dict

inline constexpr std::uint64_t kListItems = 24;
inline constexpr std::uint64_t kDictKeys = 32, kDictValues = 40;
inline constexpr std::uint64_t kSetMask = 32, kSetTable = 40, kSetEntryBytes = 16;
inline constexpr std::uint64_t kSetHash = 8;        // in an entry, behind the key
inline constexpr std::uint64_t kSetSmallTable = 64; // of a few entries, in the set itself

// A deque has blocks of 64 items between links to the blocks beside; it begins and ends inside one.
inline constexpr std::string_view kDeque = "collections.deque";
inline constexpr std::uint64_t kDequeFirst = 24, kDequeLast = 32;
inline constexpr std::uint64_t kDequeFirstItem = 40, kDequeLastItem = 48; // their numbers there
inline constexpr std::uint64_t kDequeItems = 8;                           // in a block

inline constexpr std::uint64_t kTextState = 32;
inline constexpr std::uint32_t kTextIsCompactAscii = 3 << 5;

inline constexpr std::uint64_t kModuleDict = 16, kModuleName = 48;
inline constexpr std::uint64_t kFrameOfObject = 24; // where frames lie in chunks
inline constexpr std::uint64_t kWeakCallback = 24;

// Tuples of the names of locals, one after the other; of those that closures share there are two.
inline constexpr std::uint64_t kCodeLocalNames[] = {96}, kOldCodeLocalNames[] = {72, 88, 80};
inline constexpr std::uint64_t kCodeName = 128, kOldCodeName = 112;
inline constexpr std::uint64_t kOldCodeFreeFrame = 128; // of a call that ended: for the next one
inline constexpr std::uint64_t kDigits = 24; // of an int: 30 bits in each 32, the lowest first
inline constexpr std::uint64_t kDigitBits = 30;
// Of one digit or two, which an address has; 0: no such digits. Behind one digit is nobody's word.
constexpr std::uint64_t value_of_digits(std::uint64_t word, int digits) noexcept
{
    const std::uint64_t low = word & UINT32_MAX;
    const std::uint64_t high = digits == 2 ? word >> 32 : 0;
    return low >> kDigitBits != 0 || high >> kDigitBits != 0 ? 0 : high << kDigitBits | low;
}
inline constexpr std::uint64_t kVersionShift = 16; // of sys.hexversion, a small int

inline constexpr std::uint64_t kChunkBefore = 0, kChunkBytes = 8;

// What PYTHONMALLOC=debug puts before each block: its size, and then a letter and 7 equal bytes.
inline constexpr std::uint64_t kDebugHead = 16, kDebugLetter = 8;
inline constexpr std::uint64_t kDebugBytes = 0xfdfdfdfdfdfdfd;

inline constexpr std::uint64_t kPoolHead = 48, kPoolStep = 16;
inline constexpr std::uint32_t kPoolClasses = 32;

} // namespace vramscope::report::python
