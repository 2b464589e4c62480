// tracker/capture/python/walk.cpp — one loop for each way in which frames are linked.
#include "tracker/capture/python/walk.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "tracker/capture/careful_read.hpp"

namespace vramscope::capture::python {
namespace {

// What is read may lie anywhere in the interpreter's memory, beside what a sanitizer watches.
template <class Word>
__attribute__((no_sanitize("address", "thread"))) inline Word load(std::uintptr_t at) noexcept
{
    Word value;
    std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
    return value;
}

inline std::uintptr_t pointer(std::uintptr_t at) noexcept
{
    return load<std::uintptr_t>(at);
}

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
constexpr std::uintptr_t kEntry = std::uintptr_t{1} << 63; // bit of an identity

// The word at the end of so many bytes; what lies before a shorter text is its own header.
inline std::uint64_t last_word(std::uintptr_t first, std::size_t count) noexcept
{
    return load<std::uint64_t>(first + count - 8);
}

// Before 3.12 nothing in a code object is its own for ever: one that was freed may have been at the
// same address, and what it had may have been where this one's is. So this looks at the end of the
// file's name, and at both ends of the line table.
std::uint64_t digest(const Layout& layout, std::uintptr_t code) noexcept
{
    const std::uintptr_t file = pointer(code + layout.file);
    const std::uintptr_t lines = pointer(code + layout.line_table);
    const std::size_t file_size = pointer(file + kSize);
    const std::size_t lines_size = pointer(lines + kSize);
    const std::uint64_t pointers = code ^ std::rotl(file, 16) ^
                                   std::rotl(pointer(code + layout.name), 32) ^
                                   std::rotl(lines, 48);
    const std::uint64_t sizes =
        load<std::uint32_t>(code + layout.first_line) ^ file_size << 24 ^ lines_size << 40;
    const std::uint64_t words = last_word(file + layout.ascii, file_size) ^
                                std::rotl(load<std::uint64_t>(lines + kBytesData), 21) ^
                                std::rotl(last_word(lines + kBytesData, lines_size), 42);
    return pointers * kOdd + words * 0xff51afd7ed558ccdu + sizes * 0xc4ceb9fe1a85ec53u;
}

inline std::uintptr_t identity(const Layout& layout, std::uintptr_t code) noexcept
{
    if (layout.version)
        if (const auto version = load<std::uint32_t>(code + layout.version)) [[likely]]
            return version;
    return digest(layout, code) & ~kEntry;
}

// Of the products of words and their places, so that no step waits for the one before.
class Sum {
public:
    void add(std::uint64_t first, std::uint64_t second) noexcept
    {
        hash_ += (first ^ std::rotl(second, 32)) * factor_;
        factor_ += 2 * 0xd6e8feb86659fd93u;
    }
    std::uint64_t value() const noexcept { return hash_ ^ (hash_ >> 32); }

private:
    std::uint64_t hash_ = 0;
    std::uint64_t factor_ = kOdd;
};

// Calls visit(word, word) for each frame, for as long as it says true.
template <Nesting nesting, class Visit>
[[gnu::always_inline]] inline void each_frame(const Layout& layout, std::uintptr_t frame,
                                              Visit visit) noexcept
{
    for (; frame; frame = pointer(frame + layout.back)) {
        const std::uintptr_t code = pointer(frame + layout.code);
        std::uintptr_t first = 0;
        std::uintptr_t second = kEntry; // a shim
        if constexpr (nesting == Nesting::call_each) {
            first = load<std::uint32_t>(frame + layout.instruction);
            second = identity(layout, code);
        } else if constexpr (nesting == Nesting::entries) {
            const bool is_entry = load<std::uint8_t>(frame + layout.is_entry) != 0;
            first = pointer(frame + layout.instruction);
            second = identity(layout, code) | (is_entry ? kEntry : 0);
        } else if (load<std::uint8_t>(frame + layout.owner) < kOwnedByLoop) {
            first = pointer(frame + layout.instruction);
            second = identity(layout, code & ~kTagBits);
        }
        if (!visit(first, second))
            return;
    }
}

template <class Visit>
[[gnu::always_inline]] inline void each_frame(const Layout& layout, std::uintptr_t state,
                                              Visit visit) noexcept
{
    std::uintptr_t frame = pointer(state + layout.top);
    if (layout.top_is_indirect)
        frame = pointer(frame + layout.top_inside);
    if (layout.nesting == Nesting::shims)
        each_frame<Nesting::shims>(layout, frame, visit);
    else if (layout.nesting == Nesting::entries)
        each_frame<Nesting::entries>(layout, frame, visit);
    else
        each_frame<Nesting::call_each>(layout, frame, visit);
}

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
            out_.frames[out_.count++] = {code, identity(layout_, code),
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
    std::uintptr_t call_ = 0; // 3.11: the struct of the current call
    const char* why_ = "";
};

} // namespace

Collected collect(const Layout& layout, std::uintptr_t state, std::uintptr_t* out) noexcept
{
    Sum sum;
    std::uintptr_t* at = out;
    each_frame(layout, state, [&](std::uintptr_t first, std::uintptr_t second) {
        at[0] = first;
        at[1] = second;
        at += 2;
        sum.add(first, second);
        return at != out + kMostWords;
    });
    return {static_cast<std::size_t>(at - out), sum.value()};
}

bool matches(const Layout& layout, std::uintptr_t state,
             std::span<const std::uintptr_t> words) noexcept
{
    const std::uintptr_t* at = words.data();
    const std::uintptr_t* const end = at + words.size();
    bool same = true;
    each_frame(layout, state, [&](std::uintptr_t first, std::uintptr_t second) {
        if (at == end || at[0] != first || at[1] != second)
            return same = false;
        at += 2;
        return at != words.data() + kMostWords;
    });
    return same && at == end;
}

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
