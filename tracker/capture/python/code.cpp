// tracker/capture/python/code.cpp — texts of one, two or four bytes a character.
#include "tracker/capture/python/code.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tracker/capture/careful_read.hpp"

namespace vramscope::capture::python {
namespace {

std::size_t encode(std::uint32_t c, char* out) noexcept
{
    const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
    if (c < 0x80)
        return put(c), 1;
    if (c < 0x800)
        return put(0xc0 | c >> 6), put(0x80 | (c & 0x3f)), 2;
    if (c < 0x10000)
        return put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f)), 3;
    return put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f)),
           put(0x80 | (c & 0x3f)), 4;
}

// Of a text, behind its type.
struct TextHead {
    std::uint64_t characters;
    std::uint64_t hash;
    std::uint32_t state;
};
static_assert(offsetof(TextHead, state) == kTextState - kSize);

// As many characters as there is room for.
template <std::size_t room>
bool read_text(const Layout& layout, std::uintptr_t text, TextHead head, char (&out)[room],
               std::string_view& result) noexcept
{
    constexpr std::size_t kMostOfCharacter = 4;
    if (!(head.state & kTextIsCompact))
        return false;
    const std::size_t width = head.state >> kTextKindShift & kTextKindMask;
    if (width != 1 && width != 2 && width != 4)
        return false;
    std::uintptr_t from = text + (head.state & kTextIsAscii ? layout.ascii : layout.wide);
    std::size_t used = 0;
    while (head.characters && used + kMostOfCharacter <= room) {
        std::uint8_t piece[256];
        const std::size_t count = std::min<std::size_t>(head.characters, sizeof piece / width);
        if (!read_carefully(from, piece, count * width))
            return false;
        for (std::size_t at = 0; at < count && used + kMostOfCharacter <= room; ++at) {
            std::uint32_t character = 0;
            std::memcpy(&character, piece + at * width, width);
            used += encode(character, out + used);
        }
        head.characters -= count;
        from += count * width;
    }
    result = {out, used};
    return true;
}

} // namespace

bool read_code(const Layout& layout, std::uintptr_t code, CodeNames& out) noexcept
{
    std::uintptr_t file = 0;
    std::uintptr_t name = 0;
    std::uintptr_t table = 0;
    const Piece of_code[] = {{code + layout.file, &file, sizeof file},
                             {code + layout.name, &name, sizeof name},
                             {code + layout.line_table, &table, sizeof table},
                             {code + layout.first_line, &out.first_line, sizeof out.first_line}};
    if (!read_carefully(of_code))
        return false;
    TextHead heads[2];
    const Piece of_objects[] = {{file + kSize, &heads[0], sizeof heads[0]},
                                {name + kSize, &heads[1], sizeof heads[1]},
                                {table + kSize, &out.line_bytes, sizeof out.line_bytes}};
    if (!read_carefully(of_objects))
        return false;
    out.lines = table + kBytesData;
    return read_text(layout, file, heads[0], out.room[0], out.file) &&
           read_text(layout, name, heads[1], out.room[1], out.name);
}

} // namespace vramscope::capture::python
