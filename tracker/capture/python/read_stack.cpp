// tracker/capture/python/read_stack.cpp — a walk that proves each frame.
#include <utility>

#include "tracker/capture/careful_read.hpp"
#include "tracker/capture/python/identity.hpp"
#include "tracker/capture/python/walk.hpp"

namespace vramscope::capture::python {
namespace {

struct Direct {
    template <class Word>
    static bool read(std::uintptr_t from, Word& to) noexcept
    {
        to = load<Word>(from);
        return true;
    }
};

struct Careful {
    template <class Word>
    static bool read(std::uintptr_t from, Word& to) noexcept
    {
        return read_carefully(from, &to);
    }
};

// Walks once, frame by frame, and believes nothing.
template <class Read>
class Walk {
public:
    Walk(const Interpreter& interpreter, const Layout& layout, Stack& out) noexcept
        : interpreter_(interpreter), layout_(layout), out_(out)
    {
    }

    bool run(std::uintptr_t state) noexcept
    {
        std::uintptr_t frame = 0;
        if (!find_top(state, frame))
            return refuse("a thread's state does not lead to a frame");
        if (layout_.interpreter && !find_interpreter(state))
            return refuse("a thread's state does not lead to its interpreter");
        for (std::size_t steps = 0; frame; ++steps) {
            if (steps == kMostFrames) {
                out_.truncated = true;
                break;
            }
            if (!take(frame))
                return false;
        }
        return end_call(0);
    }
    const char* why() const noexcept { return why_; }

private:
    bool find_top(std::uintptr_t state, std::uintptr_t& frame) noexcept
    {
        if (!get(state + layout_.top, call_))
            return false;
        frame = call_;
        return !layout_.top_is_indirect || get(call_ + layout_.top_inside, frame);
    }

    bool find_interpreter(std::uintptr_t state) noexcept
    {
        constexpr std::uint64_t kMost = 1u << 31; // they are counted up
        std::uintptr_t interpreter = 0;
        return get(state + layout_.interpreter, interpreter) &&
               get(interpreter + layout_.interpreter_id, number_) && number_ < kMost;
    }

    bool take(std::uintptr_t& frame) noexcept
    {
        std::uintptr_t code = 0;
        std::uintptr_t back = 0;
        std::uint8_t owner = 0;
        if (frame % 8 != 0 || !get(frame + layout_.code, code) || !get(frame + layout_.back, back))
            return refuse("a frame is not where frames are");
        if (layout_.owner && !get(frame + layout_.owner, owner))
            return refuse("a frame has no owner");
        const std::uintptr_t here = std::exchange(frame, back);
        if (layout_.nesting == Nesting::shims) {
            if (owner >= kOwnedByLoop)
                return owner > kOwnedByLoop || end_call(here);
            code &= ~kTagBits;
        }
        if (!take_code(here, code, owner))
            return false;
        std::uint8_t is_entry = layout_.nesting == Nesting::call_each;
        if (layout_.is_entry && !get(here + layout_.is_entry, is_entry))
            return refuse("a frame does not tell its entry");
        if (!is_entry)
            return true;
        const std::uintptr_t call = layout_.nesting == Nesting::entries ? call_ : 0;
        return (!call || get(call + layout_.outer_call, call_)) ? end_call(call)
                                                                : refuse("a call has no outer one");
    }

    bool take_code(std::uintptr_t frame, std::uintptr_t code, std::uint8_t owner) noexcept
    {
        if (!has_type(code, interpreter_.code_type))
            return refuse("what a frame runs is no code object");
        if (!leads_to(code + layout_.file, interpreter_.text_type) ||
            !leads_to(code + layout_.name, interpreter_.text_type) ||
            !leads_to(code + layout_.line_table, interpreter_.bytes_type))
            return refuse("a code object does not have its texts where they are looked for");
        std::int64_t offset = 0;
        std::int64_t first = 0; // a frame before it is not set up yet
        if (!(layout_.bytecode ? get_offset(frame, code, owner, offset, first)
                               : get_index(frame, offset)))
            return refuse("an instruction lies outside its code");
        if (offset >= first)
            out_.frames[out_.count++] = {code, identity(layout_, code, number_),
                                         static_cast<std::uint32_t>(offset),
                                         static_cast<std::uint32_t>(out_.call_count)};
        return true;
    }

    bool get_offset(std::uintptr_t frame, std::uintptr_t code, std::uint8_t owner,
                    std::int64_t& offset, std::int64_t& first) noexcept
    {
        std::uintptr_t instruction = 0;
        std::int64_t units = 0;
        std::int32_t traceable = 0;
        if (!get(frame + layout_.instruction, instruction) || !get(code + kSize, units) ||
            !get(code + layout_.first_traceable, traceable))
            return false;
        offset = static_cast<std::int64_t>(instruction - code - layout_.bytecode);
        first = owner == kOwnedByGenerator ? 0 : traceable * std::int64_t{2};
        return offset >= -2 && units <= kMostUnits && offset <= 2 * units;
    }

    bool get_index(std::uintptr_t frame, std::int64_t& offset) noexcept
    {
        constexpr std::uint8_t kFirstInUnits = 10; // before 3.10 it counts bytes
        std::int32_t index = 0;
        if (!get(frame + layout_.instruction, index))
            return false;
        offset = layout_.minor < kFirstInUnits ? index : index * std::int64_t{2};
        return index >= -1 && index <= kMostUnits;
    }

    bool has_type(std::uintptr_t object, std::uintptr_t type) noexcept
    {
        std::uintptr_t found = 0;
        return object % 8 == 0 && get(object + kType, found) && found == type;
    }

    bool leads_to(std::uintptr_t place, std::uintptr_t type) noexcept
    {
        std::uintptr_t object = 0;
        return get(place, object) && has_type(object, type);
    }

    bool end_call(std::uintptr_t on_stack) noexcept
    {
        out_.calls[out_.call_count++] = on_stack;
        return true;
    }

    template <class Word>
    bool get(std::uintptr_t from, Word& to) noexcept
    {
        return from >= kFirstPage && Read::read(from, to);
    }
    bool refuse(const char* why) noexcept
    {
        why_ = why;
        return false;
    }
    static constexpr std::uintptr_t kFirstPage = 4096;
    static constexpr std::int64_t kMostUnits = 1 << 30;

    const Interpreter& interpreter_;
    const Layout& layout_;
    Stack& out_;
    std::uintptr_t call_ = 0;  // 3.11: the struct of the current call
    std::uint64_t number_ = 0; // the interpreter's
    const char* why_ = "";
};

} // namespace

bool read_stack(const Interpreter& interpreter, const Layout& layout, std::uintptr_t state,
                Trust trust, Stack& out, const char*& why) noexcept
{
    out.count = out.call_count = 0;
    out.truncated = false;
    const auto walk = [&](auto frames) {
        const bool right = frames.run(state);
        why = frames.why();
        return right;
    };
    return trust == Trust::proven ? walk(Walk<Direct>(interpreter, layout, out))
                                  : walk(Walk<Careful>(interpreter, layout, out));
}

} // namespace vramscope::capture::python
