// tracker/capture/python/layout.cpp — the offsets of each version.
#include "tracker/capture/python/layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "tracker/capture/careful_read.hpp"

namespace vramscope::capture::python {
namespace {

constexpr Layout kPython38{.minor = 8,
                           .nesting = Nesting::call_each,
                           .lines = format::LineTable::line_numbers,
                           .top_is_indirect = false,
                           .top = 24,
                           .top_inside = 0,
                           .outer_call = 0,
                           .interpreter = 0,
                           .interpreter_id = 0,
                           .back = 24,
                           .code = 32,
                           .instruction = 104,
                           .is_entry = 0,
                           .owner = 0,
                           .file = 104,
                           .name = 112,
                           .first_line = 40,
                           .line_table = 120,
                           .bytecode = 0,
                           .first_traceable = 0,
                           .version = 0,
                           .ascii = 48,
                           .wide = 72};

constexpr Layout kPython39 = [] {
    Layout layout = kPython38;
    layout.minor = 9;
    return layout;
}();

constexpr Layout kPython310 = [] {
    Layout layout = kPython39;
    layout.minor = 10;
    layout.lines = format::LineTable::line_ranges;
    layout.instruction = 96;
    return layout;
}();

constexpr Layout kPython311{.minor = 11,
                            .nesting = Nesting::entries,
                            .lines = format::LineTable::locations,
                            .top_is_indirect = true,
                            .top = 56,
                            .top_inside = 8,
                            .outer_call = 16,
                            .interpreter = 0,
                            .interpreter_id = 0,
                            .back = 48,
                            .code = 32,
                            .instruction = 56,
                            .is_entry = 68,
                            .owner = 69,
                            .file = 112,
                            .name = 128,
                            .first_line = 72,
                            .line_table = 136,
                            .bytecode = 184,
                            .first_traceable = 168,
                            .version = 0,
                            .ascii = 48,
                            .wide = 72};

constexpr Layout kPython312 = [] {
    Layout layout = kPython311;
    layout.minor = 12;
    layout.nesting = Nesting::shims;
    layout.top_inside = 0;
    layout.outer_call = 8;
    layout.back = 8;
    layout.code = 0;
    layout.is_entry = 0;
    layout.owner = 70;
    layout.first_line = 68;
    layout.bytecode = 192;
    layout.first_traceable = 176;
    layout.version = 92;
    layout.ascii = 40;
    layout.wide = 56;
    return layout;
}();

constexpr std::array kByVersion = {kPython38, kPython39, kPython310, kPython311, kPython312};

// How many offsets each part of the table has, by minor version: the first three parts are the
// runtime's, an interpreter's and a thread's, the fourth is a frame's and the fifth a code
// object's. Each begins with the size of what it describes.
struct Shape {
    std::uint8_t minor;
    std::uint8_t runtime, interpreter, thread, frame;
};
constexpr std::array kShapes = {Shape{13, 3, 13, 9, 6}, Shape{14, 3, 16, 9, 8},
                                Shape{15, 3, 16, 17, 8}};
constexpr std::size_t kCodeOffsets = 10;
constexpr std::size_t kMostOffsets = 96;
constexpr std::uint16_t kFromTraceableToBytecode = 16; // which the table does not tell

struct Offsets {
    char cookie[8];
    std::uint64_t version;
    std::uint64_t free_threaded;
    std::uint64_t words[kMostOffsets];
};

bool are_plausible(std::uint64_t interpreter_id, std::span<const std::uint64_t> offsets) noexcept
{
    constexpr std::uint64_t kMostBytes = 4096; // of a struct: a larger offset is none
    constexpr std::uint64_t kMostOfInterpreter = 1 << 22;
    return interpreter_id <= kMostOfInterpreter &&
           std::all_of(offsets.begin(), offsets.end(),
                       [](std::uint64_t offset) { return offset <= kMostBytes; });
}

// What no type proves: a first line is a number, a file and a name are texts, and a thread may have no
// frame at all. These have not moved in any version with a table, nor has a code object's version, of
// which the table does not tell.
bool are_as_ever(const std::uint64_t* thread, const std::uint64_t* code) noexcept
{
    constexpr std::uint64_t kTop = 72;
    return thread[4] == kTop && code[1] == kPython312.file && code[3] == kPython312.name &&
           code[4] == kPython312.line_table && code[5] == kPython312.first_line;
}

} // namespace

const Layout* known_layout(std::uint32_t version) noexcept
{
    const auto* const found =
        std::find_if(kByVersion.begin(), kByVersion.end(), [version](const Layout& layout) {
            return version >> 16 == (0x300u | layout.minor);
        });
    return found == kByVersion.end() ? nullptr : found;
}

const char* read_offsets(std::uintptr_t runtime, std::uint32_t version, Layout& out) noexcept
{
    const std::uint8_t minor = version >> 16 & 0xff;
    const auto* const shape = std::find_if(
        kShapes.begin(), kShapes.end(), [minor](const Shape& row) { return row.minor == minor; });
    Offsets table;
    if (shape == kShapes.end() || version >> 24 != 3)
        return "this version is not known";
    if (!read_carefully(runtime, &table) ||
        std::memcmp(table.cookie, "xdebugpy", sizeof table.cookie) != 0 ||
        table.version >> 16 != version >> 16)
        return "its table of offsets is not one that is known";
    if (table.free_threaded != 0)
        return "it is a free-threaded build, whose frames are not known";
    const std::uint64_t* const thread = table.words + shape->runtime + shape->interpreter;
    const std::uint64_t* const frame = thread + shape->thread;
    const std::uint64_t* const code = frame + shape->frame;
    const std::uint64_t interpreter_id = table.words[shape->runtime + 1];
    if (!are_plausible(interpreter_id, {thread, code + kCodeOffsets}) || !are_as_ever(thread, code))
        return "its table has offsets that cannot be right";
    const auto offset = [](const std::uint64_t& from) { return static_cast<std::uint16_t>(from); };
    out = kPython312;
    out.minor = minor;
    out.top_is_indirect = false;
    out.interpreter = offset(thread[3]);
    out.interpreter_id = static_cast<std::uint32_t>(interpreter_id);
    out.top = offset(thread[4]);
    out.back = offset(frame[1]);
    out.code = offset(frame[2]);
    out.instruction = offset(frame[3]);
    out.owner = offset(frame[5]);
    out.file = offset(code[1]);
    out.name = offset(code[3]);
    out.line_table = offset(code[4]);
    out.first_line = offset(code[5]);
    out.bytecode = offset(code[9]);
    out.first_traceable = static_cast<std::uint16_t>(out.bytecode - kFromTraceableToBytecode);
    return nullptr;
}

} // namespace vramscope::capture::python
