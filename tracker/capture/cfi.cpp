// tracker/capture/cfi.cpp — a small interpreter of call frame information (DWARF 5 §6.4, LSB
// .eh_frame).
#include "tracker/capture/cfi.hpp"

#include <cstring>
#include <link.h>

namespace vramscope::capture {
namespace {

constexpr unsigned kRbp = 6, kRsp = 7, kReturnAddress = 16; // System V x86-64 numbering

// Reads forward through a table; the tables are mapped and were made by a compiler, but stay
// bounded.
class Table {
public:
    Table(const std::uint8_t* begin, const std::uint8_t* end) noexcept : at_(begin), end_(end) {}
    template <class T>
    T read() noexcept
    {
        T value{};
        if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
            ok_ = false;
            at_ = end_;
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint64_t uleb() noexcept
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; ok_ && shift < 64; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80)
                break;
        }
        return value;
    }
    std::int64_t sleb() noexcept
    {
        std::int64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0x80;
        while (ok_ && byte >= 0x80 && shift < 64) {
            byte = read<std::uint8_t>();
            value |= static_cast<std::int64_t>(byte & 0x7fu) << shift;
            shift += 7;
        }
        if (shift < 64 && (byte & 0x40))
            value |= -(std::int64_t{1} << shift);
        return value;
    }
    void skip(std::uint64_t bytes) noexcept
    {
        if (bytes > static_cast<std::uint64_t>(end_ - at_)) {
            ok_ = false;
            at_ = end_;
        } else {
            at_ += bytes;
        }
    }
    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return at_ == end_; }
    const std::uint8_t* position() const noexcept { return at_; }
    const std::uint8_t* end() const noexcept { return end_; }

    // A pointer in one of the encodings that .eh_frame uses; only what GNU tools emit on x86-64.
    bool pointer(std::uint8_t encoding, std::uintptr_t data_base, std::uintptr_t& out) noexcept
    {
        const auto here = reinterpret_cast<std::uintptr_t>(at_);
        std::uintptr_t value = 0;
        switch (encoding & 0x0f) {
        case 0x00:
        case 0x04:
        case 0x0c:
            value = read<std::uint64_t>();
            break;
        case 0x03:
            value = read<std::uint32_t>();
            break;
        case 0x0b:
            value = static_cast<std::uintptr_t>(std::int64_t{read<std::int32_t>()});
            break;
        default:
            return false;
        }
        switch (encoding & 0x70) {
        case 0x00:
            break;
        case 0x10:
            value += here;
            break;
        case 0x30:
            value += data_base;
            break;
        default:
            return false;
        }
        out = value;
        return ok_; // an indirect pointer (0x80) is only skipped over, for personality routines
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool ok_ = true;
};

struct Object {
    std::uintptr_t address;
    const std::uint8_t* header = nullptr; // .eh_frame_hdr
    std::size_t header_bytes = 0;
    std::uintptr_t end = 0; // of the loaded range
};

int find_object(dl_phdr_info* info, std::size_t, void* data)
{
    auto& object = *static_cast<Object*>(data);
    bool inside = false;
    const ElfW(Phdr)* frame_header = nullptr;
    std::uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        const std::uintptr_t first = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD) {
            inside = inside || object.address - first < segment.p_memsz;
            end = first + segment.p_memsz > end ? first + segment.p_memsz : end;
        } else if (segment.p_type == PT_GNU_EH_FRAME) {
            frame_header = &segment;
        }
    }
    if (!inside)
        return 0;
    if (frame_header) {
        object.header =
            reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + frame_header->p_vaddr);
        object.header_bytes = frame_header->p_memsz;
        object.end = end;
    }
    return 1;
}

// The entry of the binary search table that may cover `address`.
const std::uint8_t* find_entry(const Object& object) noexcept
{
    Table header(object.header, object.header + object.header_bytes);
    const auto base = reinterpret_cast<std::uintptr_t>(object.header);
    const auto version = header.read<std::uint8_t>();
    const auto frame_encoding = header.read<std::uint8_t>();
    const auto count_encoding = header.read<std::uint8_t>();
    const auto table_encoding = header.read<std::uint8_t>();
    std::uintptr_t frames = 0, count = 0;
    constexpr std::uint8_t kSortedOffsets =
        0x3b; // what linkers write: offsets from the header, 4 bytes
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

struct Cie {
    std::uint64_t code_align = 0;
    std::int64_t data_align = 0;
    std::uint8_t pointer_encoding = 0;
    bool has_augmentation = false;
    Table program{nullptr, nullptr};
};

bool read_cie(const std::uint8_t* at, std::uintptr_t limit, Cie& cie) noexcept
{
    std::uint32_t length;
    std::memcpy(&length, at, sizeof length);
    const std::uint8_t* end = at + 4 + length;
    if (length == 0 || length == 0xffffffff || reinterpret_cast<std::uintptr_t>(end) > limit)
        return false;
    Table table(at + 4, end);
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
            default:
                return false; // 'S' among them: a signal frame
            }
        }
        cie.program = Table(program, end);
    } else if (*augmentation == '\0') {
        cie.program = Table(table.position(), end);
    } else {
        return false;
    }
    return table.ok();
}

enum class Where : std::uint8_t { same, at_offset, undefined, unknown };

struct Row {
    unsigned cfa_register = kRsp;
    std::int64_t cfa_offset = 0;
    bool cfa_known = false;
    Where return_address = Where::unknown;
    std::int64_t return_address_offset = 0;
    Where frame_pointer = Where::same;
    std::int64_t frame_pointer_offset = 0;
    Where stack_pointer = Where::same; // other: the caller's is not the canonical frame address
};

class Interpreter {
public:
    Interpreter(const Cie& cie, std::uintptr_t function) noexcept : cie_(cie), location_(function)
    {
    }

    // Runs until the row for `address` is complete. False: something it does not know.
    bool run(Table program, std::uintptr_t address) noexcept
    {
        while (program.ok() && !program.at_end()) {
            const auto opcode = program.read<std::uint8_t>();
            if (!step(opcode, program))
                return false;
            if (location_ > address)
                return true;
            row_ = next_;
        }
        return program.ok();
    }

    void keep_as_initial() noexcept { initial_ = row_; }
    const Row& row() const noexcept { return row_; }

private:
    void set(std::uint64_t reg, Where where, std::int64_t offset) noexcept
    {
        if (reg == kReturnAddress) {
            next_.return_address = where;
            next_.return_address_offset = offset;
        } else if (reg == kRbp) {
            next_.frame_pointer = where;
            next_.frame_pointer_offset = offset;
        } else if (reg == kRsp) {
            next_.stack_pointer = where;
        }
    }
    void restore(std::uint64_t reg) noexcept
    {
        if (reg == kReturnAddress)
            set(reg, initial_.return_address, initial_.return_address_offset);
        else if (reg == kRbp)
            set(reg, initial_.frame_pointer, initial_.frame_pointer_offset);
        else if (reg == kRsp)
            set(reg, initial_.stack_pointer, 0);
    }
    void define_cfa(std::uint64_t reg, std::int64_t offset) noexcept
    {
        next_.cfa_known = reg == kRsp || reg == kRbp;
        next_.cfa_register = static_cast<unsigned>(reg);
        next_.cfa_offset = offset;
    }
    bool advance(std::uint64_t delta) noexcept
    {
        location_ += delta * cie_.code_align;
        return true;
    }
    bool step(std::uint8_t opcode, Table& program) noexcept;

    const Cie& cie_;
    std::uintptr_t location_;
    Row row_, next_, initial_;
    static constexpr std::size_t kMaxRemembered = 8;
    Row remembered_[kMaxRemembered];
    std::size_t depth_ = 0;
};

bool Interpreter::step(std::uint8_t opcode, Table& program) noexcept
{
    const auto scaled = [&](std::int64_t factor) { return factor * cie_.data_align; };
    const auto unsigned_factor = [&] { return scaled(static_cast<std::int64_t>(program.uleb())); };
    std::uint64_t reg;
    switch (opcode & 0xc0) {
    case 0x40:
        return advance(opcode & 0x3f);
    case 0x80:
        return set(opcode & 0x3f, Where::at_offset, unsigned_factor()), true;
    case 0xc0:
        return restore(opcode & 0x3f), true;
    default:
        break;
    }
    switch (opcode) {
    case 0x00:
        return true; // nop
    case 0x02:
        return advance(program.read<std::uint8_t>());
    case 0x03:
        return advance(program.read<std::uint16_t>());
    case 0x04:
        return advance(program.read<std::uint32_t>());
    case 0x05:
        reg = program.uleb();
        return set(reg, Where::at_offset, unsigned_factor()), true;
    case 0x06:
        return restore(program.uleb()), true;
    case 0x07:
        return set(program.uleb(), Where::undefined, 0), true;
    case 0x08:
        return set(program.uleb(), Where::same, 0), true;
    case 0x09: // kept in another register
        reg = program.uleb();
        program.uleb();
        return set(reg, Where::unknown, 0), true;
    case 0x0a:
        if (depth_ == kMaxRemembered)
            return false;
        remembered_[depth_++] = next_;
        return true;
    case 0x0b:
        if (depth_ == 0)
            return false;
        next_ = remembered_[--depth_];
        return true;
    case 0x0c:
        reg = program.uleb();
        return define_cfa(reg, static_cast<std::int64_t>(program.uleb())), true;
    case 0x0d:
        return define_cfa(program.uleb(), next_.cfa_offset), true;
    case 0x0e:
        next_.cfa_offset = static_cast<std::int64_t>(program.uleb());
        return true;
    case 0x0f:
        next_.cfa_known = false;
        program.skip(program.uleb());
        return true; // an expression
    case 0x10:
    case 0x16: // the register's place or value is an expression
        set(program.uleb(), Where::unknown, 0);
        program.skip(program.uleb());
        return true;
    case 0x11:
        reg = program.uleb();
        return set(reg, Where::at_offset, scaled(program.sleb())), true;
    case 0x12:
        reg = program.uleb();
        return define_cfa(reg, scaled(program.sleb())), true;
    case 0x13:
        next_.cfa_offset = scaled(program.sleb());
        return true;
    case 0x14:
    case 0x15:
        set(program.uleb(), Where::unknown, 0);
        program.uleb();
        return true;
    case 0x2e:
        program.uleb();
        return true; // size of pushed arguments
    default:
        return false;
    }
}

FrameRule to_rule(const Row& row) noexcept
{
    FrameRule rule;
    if (row.return_address == Where::undefined) {
        rule.kind = FrameRule::Kind::end;
        return rule;
    }
    const bool saved = row.frame_pointer == Where::at_offset;
    if (!row.cfa_known || row.return_address != Where::at_offset ||
        (!saved && row.frame_pointer != Where::same) || row.stack_pointer != Where::same)
        return rule;
    rule.kind = FrameRule::Kind::plain;
    rule.from_frame_pointer = row.cfa_register == kRbp;
    rule.saves_frame_pointer = saved;
    rule.frame_offset = static_cast<std::int32_t>(row.cfa_offset);
    rule.return_address_offset = static_cast<std::int32_t>(row.return_address_offset);
    rule.frame_pointer_offset = static_cast<std::int32_t>(row.frame_pointer_offset);
    return rule;
}

} // namespace

FrameRule frame_rule(std::uintptr_t return_address) noexcept
{
    Object object{.address = return_address - 1};
    if (!::dl_iterate_phdr(&find_object, &object) || !object.header)
        return {};
    const std::uint8_t* entry = find_entry(object);
    if (!entry)
        return {};
    std::uint32_t length;
    std::memcpy(&length, entry, sizeof length);
    const std::uint8_t* end = entry + 4 + length;
    if (length == 0 || length == 0xffffffff || reinterpret_cast<std::uintptr_t>(end) > object.end)
        return {};
    Table table(entry + 4, end);
    const std::uint8_t* cie_pointer = table.position();
    const auto cie_distance = table.read<std::uint32_t>();
    Cie cie;
    if (cie_distance == 0 || !read_cie(cie_pointer - cie_distance, object.end, cie))
        return {};
    std::uintptr_t function = 0, bytes = 0;
    if (!table.pointer(cie.pointer_encoding, 0, function) ||
        !table.pointer(cie.pointer_encoding & 0x0f, 0, bytes) || object.address - function >= bytes)
        return {};
    if (cie.has_augmentation)
        table.skip(table.uleb());
    Interpreter interpreter(cie, function);
    if (!interpreter.run(cie.program, UINTPTR_MAX))
        return {};
    interpreter.keep_as_initial();
    if (!interpreter.run(table, object.address))
        return {};
    return to_rule(interpreter.row());
}

} // namespace vramscope::capture
