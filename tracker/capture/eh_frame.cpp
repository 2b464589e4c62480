// tracker/capture/eh_frame.cpp — object, then search table, then entry.
#include "tracker/capture/eh_frame.hpp"

#include <atomic>
#include <link.h>

#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/signals.hpp"

namespace vramscope::capture {
namespace {

constexpr unsigned kReturnAddress = 16; // System V x86-64 numbering

struct Object {
    std::uintptr_t address;
    const std::uint8_t* header = nullptr; // .eh_frame_hdr
    std::uintptr_t end = 0;               // end of the loaded range
};

// glibc's struct dl_find_object, which headers before 2.35 do not have.
struct FoundObject {
    unsigned long long flags;
    void* map_start;
    void* map_end;
    link_map* map;
    void* frame_header; // .eh_frame_hdr
    unsigned long long reserved[7];
};
using FindObject = int (*)(void* address, FoundObject* found);

// It takes no lock, unlike the walk over all objects. Null: this is glibc 2.34.
FindObject libc_find_object() noexcept
{
    static constinit std::atomic<void*> kept{nullptr};
    static constinit std::atomic<bool> sought{false};
    if (!sought.load(std::memory_order_acquire)) {
        kept.store(libc_symbol("_dl_find_object"), std::memory_order_relaxed);
        sought.store(true, std::memory_order_release);
    }
    return reinterpret_cast<FindObject>(kept.load(std::memory_order_relaxed));
}

int visit(dl_phdr_info* info, std::size_t, void* data)
{
    auto& object = *static_cast<Object*>(data);
    if (!holds(*info, object.address))
        return 0;
    for (const ElfW(Phdr) & segment : segments_of(*info)) {
        if (segment.p_type != PT_GNU_EH_FRAME)
            continue;
        object.header = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + segment.p_vaddr);
        object.end = loaded_range(*info).end;
    }
    return 1;
}

// False: no object holds the address, or it has no unwind table.
bool find_object(Object& object) noexcept
{
    if (const FindObject find = libc_find_object()) {
        FoundObject found{};
        if (find(reinterpret_cast<void*>(object.address), &found) != 0)
            return false;
        object.header = static_cast<const std::uint8_t*>(found.frame_header);
        object.end = reinterpret_cast<std::uintptr_t>(found.map_end);
    } else {
        const SignalsHeld held; // the loader's lock is ours too, inside its walk
        each_object(&visit, &object);
    }
    return object.header != nullptr;
}

// The entry of the binary search table that may cover `address`.
const std::uint8_t* find_entry(const Object& object) noexcept
{
    FrameTable header(object.header, reinterpret_cast<const std::uint8_t*>(object.end));
    const auto base = reinterpret_cast<std::uintptr_t>(object.header);
    const auto version = header.read<std::uint8_t>();
    const auto frame_encoding = header.read<std::uint8_t>();
    const auto count_encoding = header.read<std::uint8_t>();
    const auto table_encoding = header.read<std::uint8_t>();
    std::uintptr_t frames = 0, count = 0;
    // What linkers write: offsets from the header, 4 bytes each.
    constexpr std::uint8_t kSortedOffsets = 0x3b;
    if (version != 1 || table_encoding != kSortedOffsets ||
        !header.pointer(frame_encoding, base, frames) ||
        !header.pointer(count_encoding, base, count))
        return nullptr;
    struct Row {
        std::int32_t first;
        std::int32_t entry;
    };
    const auto* rows = reinterpret_cast<const Row*>(header.position());
    if (count == 0 ||
        count > static_cast<std::size_t>(header.end() - header.position()) / sizeof(Row))
        return nullptr;
    std::size_t low = 0, high = count;
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        const std::uintptr_t first =
            base + static_cast<std::uintptr_t>(std::int64_t{rows[middle].first});
        (first <= object.address ? low : high) = middle;
    }
    return object.header + rows[low].entry;
}

bool read_cie(const std::uint8_t* at, std::uintptr_t limit, Cie& cie) noexcept
{
    std::uint32_t length;
    std::memcpy(&length, at, sizeof length);
    const std::uint8_t* end = at + 4 + length;
    if (length == 0 || length == 0xffffffff || reinterpret_cast<std::uintptr_t>(end) > limit)
        return false;
    FrameTable table(at + 4, end);
    if (table.read<std::uint32_t>() != 0)
        return false; // not a CIE
    const auto version = table.read<std::uint8_t>();
    if (version != 1 && version != 3)
        return false;
    const auto* augmentation = reinterpret_cast<const char*>(table.position());
    while (table.ok() && table.read<std::uint8_t>() != 0) {
    }
    cie.code_align = table.uleb();
    cie.data_align = table.sleb();
    const std::uint64_t return_register = version == 1 ? table.read<std::uint8_t>() : table.uleb();
    if (!table.ok() || return_register != kReturnAddress)
        return false;
    if (*augmentation == 'z') {
        cie.has_augmentation = true;
        const std::uint64_t bytes = table.uleb();
        const std::uint8_t* program = table.position() + bytes;
        if (program > end)
            return false;
        for (const char* letter = augmentation + 1; *letter; ++letter) {
            std::uintptr_t ignored;
            switch (*letter) {
            case 'L':
                table.skip(1);
                break;
            case 'R':
                cie.pointer_encoding = table.read<std::uint8_t>();
                break;
            case 'P':
                if (!table.pointer(table.read<std::uint8_t>(), 0, ignored))
                    return false;
                break;
            case 'S':
                cie.of_signal_frame = true;
                break;
            default:
                return false;
            }
        }
        cie.program = FrameTable(program, end);
    } else if (*augmentation == '\0') {
        cie.program = FrameTable(table.position(), end);
    } else {
        return false;
    }
    return table.ok();
}

} // namespace

bool find_frame_entry(std::uintptr_t address, FrameEntry& entry) noexcept
{
    Object object{.address = address};
    if (!find_object(object))
        return false;
    const std::uint8_t* at = find_entry(object);
    if (!at)
        return false;
    std::uint32_t length;
    std::memcpy(&length, at, sizeof length);
    const std::uint8_t* end = at + 4 + length;
    if (length == 0 || length == 0xffffffff || reinterpret_cast<std::uintptr_t>(end) > object.end)
        return false;
    FrameTable table(at + 4, end);
    const std::uint8_t* cie_pointer = table.position();
    const auto cie_distance = table.read<std::uint32_t>();
    if (cie_distance == 0 || !read_cie(cie_pointer - cie_distance, object.end, entry.cie))
        return false;
    std::uintptr_t bytes = 0;
    if (!table.pointer(entry.cie.pointer_encoding, 0, entry.function) ||
        !table.pointer(entry.cie.pointer_encoding & 0x0f, 0, bytes) ||
        address - entry.function >= bytes)
        return false;
    if (entry.cie.has_augmentation)
        table.skip(table.uleb());
    entry.program = table;
    return true;
}

} // namespace vramscope::capture
