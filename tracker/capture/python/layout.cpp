// tracker/capture/python/layout.cpp — the offsets of each version.
#include "tracker/capture/python/layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "tracker/capture/careful_read.hpp"
#include "tracker/capture/python/known_layouts.hpp"

namespace vramscope::capture::python {
namespace {

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
    constexpr std::uint64_t kMostBytes = 4096; // no struct is larger, so no offset is
    constexpr std::uint64_t kMostOfInterpreter = 1 << 22;
    return interpreter_id <= kMostOfInterpreter &&
           std::all_of(offsets.begin(), offsets.end(),
                       [](std::uint64_t offset) { return offset <= kMostBytes; });
}

// Looks at what no type proves (a first line is a number, a file and a name are texts, and a thread
// may have no frame at all), and at what a walk has as constants. These have not moved since 3.12,
// nor has a code object's version, which the table leaves out; the top has not moved in any version
// with a table.
bool are_as_ever(const std::uint64_t* thread, const std::uint64_t* frame,
                 const std::uint64_t* code) noexcept
{
    constexpr std::uint64_t kTop = 72;
    return thread[4] == kTop && frame[1] == kPython312.back && frame[2] == kPython312.code &&
           frame[3] == kPython312.instruction && code[1] == kPython312.file &&
           code[3] == kPython312.name && code[4] == kPython312.line_table &&
           code[5] == kPython312.first_line;
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
    if (!are_plausible(interpreter_id, {thread, code + kCodeOffsets}) ||
        !are_as_ever(thread, frame, code))
        return "its table has offsets that cannot be right";
    const auto offset = [](const std::uint64_t& from) { return static_cast<std::uint16_t>(from); };
    out = kPython312;
    out.minor = minor;
    out.top_is_indirect = false;
    out.interpreter = offset(thread[3]);
    out.interpreter_id = static_cast<std::uint32_t>(interpreter_id);
    out.top = offset(thread[4]);
    out.owner = offset(frame[5]);
    out.bytecode = offset(code[9]);
    out.first_traceable = static_cast<std::uint16_t>(out.bytecode - kFromTraceableToBytecode);
    return nullptr;
}

} // namespace vramscope::capture::python
