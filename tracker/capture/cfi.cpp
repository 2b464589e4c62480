// tracker/capture/cfi.cpp — a small interpreter of call frame information.
//
// The format is that of DWARF 5 §6.4 and of .eh_frame in the LSB.
#include "tracker/capture/cfi.hpp"

#include "tracker/capture/eh_frame.hpp"
#include "tracker/capture/signal_frames.hpp"

namespace vramscope::capture {
namespace {

constexpr unsigned kRbp = 6, kRsp = 7, kReturnAddress = 16; // System V x86-64 numbering

enum class Where : std::uint8_t { same, at_offset, undefined, unknown };

struct Row {
    unsigned cfa_register;
    std::int64_t cfa_offset;
    bool cfa_known;
    Where return_address;
    std::int64_t return_address_offset;
    Where frame_pointer;
    std::int64_t frame_pointer_offset;
    Where stack_pointer; // if not the same, the caller's is not the frame address
};
constexpr Row kFirstRow{.cfa_register = kRsp,
                        .cfa_offset = 0,
                        .cfa_known = false,
                        .return_address = Where::unknown,
                        .return_address_offset = 0,
                        .frame_pointer = Where::same,
                        .frame_pointer_offset = 0,
                        .stack_pointer = Where::same};

class Interpreter {
public:
    Interpreter(const Cie& cie, std::uintptr_t function) noexcept : cie_(cie), location_(function)
    {
    }

    // Runs until the row for `address` is complete. False: something it does not know.
    bool run(FrameTable program, std::uintptr_t address) noexcept
    {
        while (program.ok() && !program.at_end()) {
            const auto opcode = program.read<std::uint8_t>();
            if (!step(opcode, program))
                return false;
            if (location_ > address)
                return true; // an advance has changed nothing of the row
        }
        return program.ok();
    }

    void keep_as_initial() noexcept { initial_ = row_; }
    const Row& row() const noexcept { return row_; }

private:
    void set(std::uint64_t reg, Where where, std::int64_t offset) noexcept
    {
        if (reg == kReturnAddress) {
            row_.return_address = where;
            row_.return_address_offset = offset;
        } else if (reg == kRbp) {
            row_.frame_pointer = where;
            row_.frame_pointer_offset = offset;
        } else if (reg == kRsp) {
            row_.stack_pointer = where;
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
        row_.cfa_known = reg == kRsp || reg == kRbp;
        row_.cfa_register = static_cast<unsigned>(reg);
        row_.cfa_offset = offset;
    }
    bool advance(std::uint64_t delta) noexcept
    {
        location_ += delta * cie_.code_align;
        return true;
    }
    bool step(std::uint8_t opcode, FrameTable& program) noexcept;

    const Cie& cie_;
    std::uintptr_t location_;
    Row row_ = kFirstRow, initial_ = kFirstRow;
    static constexpr std::size_t kMaxRemembered = 8;
    Row remembered_[kMaxRemembered]; // the first depth_ of them; to fill them all takes long
    std::size_t depth_ = 0;
};

bool Interpreter::step(std::uint8_t opcode, FrameTable& program) noexcept
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
        remembered_[depth_++] = row_;
        return true;
    case 0x0b:
        if (depth_ == 0)
            return false;
        row_ = remembered_[--depth_];
        return true;
    case 0x0c:
        reg = program.uleb();
        return define_cfa(reg, static_cast<std::int64_t>(program.uleb())), true;
    case 0x0d:
        return define_cfa(program.uleb(), row_.cfa_offset), true;
    case 0x0e:
        row_.cfa_offset = static_cast<std::int64_t>(program.uleb());
        return true;
    case 0x0f:
        row_.cfa_known = false;
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
        row_.cfa_offset = scaled(program.sleb());
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

// By the code, too: only that of rt_sigreturn is known to have a ucontext_t above it.
FrameRule rule_of_signal_frame(std::uintptr_t return_address) noexcept
{
    FrameRule rule;
    if (ends_handler(reinterpret_cast<const std::uint8_t*>(return_address)))
        rule.kind = FrameRule::Kind::signal;
    return rule;
}

} // namespace

FrameRule frame_rule(std::uintptr_t return_address) noexcept
{
    FrameEntry entry;
    if (!find_frame_entry(return_address - 1, entry))
        return {};
    if (entry.cie.of_signal_frame)
        return rule_of_signal_frame(return_address);
    Interpreter interpreter(entry.cie, entry.function);
    if (!interpreter.run(entry.cie.program, UINTPTR_MAX))
        return {};
    interpreter.keep_as_initial();
    if (!interpreter.run(entry.program, return_address - 1))
        return {};
    return to_rule(interpreter.row());
}

} // namespace vramscope::capture
