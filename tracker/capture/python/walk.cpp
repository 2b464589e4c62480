// tracker/capture/python/walk.cpp — one loop for each way in which frames are linked.
#include "tracker/capture/python/walk.hpp"

#include <bit>

#include "tracker/capture/python/identity.hpp"
#include "tracker/capture/python/known_layouts.hpp"

namespace vramscope::capture::python {
namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;

// A sum of products of words and their places, so that no step waits for the one before.
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

struct Words {
    std::uintptr_t first;
    std::uintptr_t second;
};

// The digest where a version since 3.12 has used up the numbers of its code objects.
[[gnu::noinline, gnu::cold]] std::uintptr_t digest_at_last(const Layout& layout,
                                                           std::uintptr_t code) noexcept
{
    return digest(layout, code);
}

// Reads frames of one thread. Most offsets are constants, for the processor has few registers.
template <Nesting nesting>
class Frames {
public:
    Frames(const Layout& layout, std::uintptr_t state) noexcept
        : instruction_(layout.instruction), owner_(layout.owner)
    {
        top_ = pointer(state + layout.top);
        if (layout.top_is_indirect)
            top_ = pointer(top_ + layout.top_inside);
        interpreter_ = interpreter_of(layout, state) << 32;
    }

    std::uintptr_t top() const noexcept { return top_; }
    std::uintptr_t next(std::uintptr_t frame) const noexcept
    {
        return pointer(frame + kFixed.back);
    }
    [[gnu::always_inline]] Words words(std::uintptr_t frame) const noexcept
    {
        const std::uintptr_t code = pointer(frame + kFixed.code);
        if constexpr (nesting != Nesting::shims)
            return {place(frame), digest(kFixed, code)};
        if (load<std::uint8_t>(frame + owner_) >= kOwnedByLoop) [[unlikely]]
            return {0, kNoIdentity}; // a shim
        const std::uintptr_t object = code & ~kTagBits;
        const auto version = load<std::uint32_t>(object + kFixed.version);
        return {pointer(frame + kFixed.instruction),
                version ? version | interpreter_ : digest_at_last(kFixed, object)};
    }

    // Whether the first of its words is this one.
    [[gnu::always_inline]] bool is_at(std::uintptr_t frame, std::uintptr_t known) const noexcept
    {
        if constexpr (nesting != Nesting::shims)
            return place(frame) == known;
        if (!known) [[unlikely]]
            return load<std::uint8_t>(frame + owner_) >= kOwnedByLoop;
        return pointer(frame + kFixed.instruction) ==
               known; // no shim's: theirs is in no code object
    }

    // The code object and the instruction, of a version without shims. Both fit into one word: that
    // of an instruction is even, and of an object's address 43 bits may differ.
    [[gnu::always_inline]] std::uintptr_t place(std::uintptr_t frame) const noexcept
    {
        constexpr int kUpmost = 17;
        if constexpr (nesting == Nesting::entries)
            return pointer(frame + kFixed.instruction) +
                   load<std::uint8_t>(frame + kFixed.is_entry);
        return std::rotl(pointer(frame + kFixed.code), kUpmost) ^
               load<std::uint32_t>(frame + instruction_);
    }

private:
    static constexpr const Layout& kFixed = first_in(nesting);
    std::uintptr_t top_;
    std::uintptr_t interpreter_ = 0;
    std::size_t instruction_;
    std::size_t owner_;
};

// Calls use(Frames), of the nesting that this version has.
template <class Use>
[[gnu::always_inline]] inline auto with_frames(const Layout& layout, std::uintptr_t state,
                                               Use use) noexcept
{
    if (layout.nesting == Nesting::shims)
        return use(Frames<Nesting::shims>(layout, state));
    if (layout.nesting == Nesting::entries)
        return use(Frames<Nesting::entries>(layout, state));
    return use(Frames<Nesting::call_each>(layout, state));
}

} // namespace

Collected collect(const Layout& layout, std::uintptr_t state, std::uintptr_t* out) noexcept
{
    return with_frames(layout, state, [out](const auto frames) {
        Sum sum;
        std::uintptr_t* at = out;
        for (std::uintptr_t frame = frames.top(); frame && at != out + kMostWords; at += 2) {
            const Words words = frames.words(frame);
            frame = frames.next(frame);
            at[0] = words.first;
            at[1] = words.second;
            sum.add(words.first, words.second);
        }
        return Collected{static_cast<std::size_t>(at - out), sum.value()};
    });
}

std::size_t collect_steps(const Layout& layout, std::uintptr_t state, std::uintptr_t* out) noexcept
{
    return with_frames(layout, state, [out](const auto frames) {
        std::size_t count = 0;
        for (std::uintptr_t frame = frames.top(); frame && count < kMostFrames;) {
            const std::uintptr_t next = frames.next(frame);
            out[count++] = frame - next;
            frame = next;
        }
        return count;
    });
}

namespace {

// One offset counts through words and steps, since a second one would not fit into registers, and
// then each frame waits for it. The next frame is taken to be where it was seen before, and then
// held against what this one says: by a branch, so that the processor begins with the next frame
// before it has read where that is.
template <Codes codes>
bool matches_as(const Layout& layout, std::uintptr_t state, std::span<const std::uintptr_t> words,
                const std::uintptr_t* steps) noexcept
{
    return with_frames(
        layout, state, [words, steps]<Nesting nesting>(const Frames<nesting> frames) {
            const auto first = reinterpret_cast<std::uintptr_t>(words.data());
            const auto first_step = reinterpret_cast<std::uintptr_t>(steps);
            const std::size_t end = words.size() * sizeof(std::uintptr_t) / 2;
            std::uintptr_t frame = frames.top();
            for (std::size_t at = 0; at != end; at += sizeof(std::uintptr_t)) {
                const std::uintptr_t known = first + 2 * at;
                if (!frame)
                    return false;
                if constexpr (codes == Codes::are_the_same) {
                    if (!frames.is_at(frame, pointer(known)))
                        return false;
                } else {
                    const auto [word, second] = frames.words(frame);
                    if (word != pointer(known) || second != pointer(known + sizeof word))
                        return false;
                }
                std::uintptr_t next = frames.next(frame);
                frame -= pointer(first_step + at);
                if (next != frame) [[unlikely]] {
                    asm volatile("" : "+r"(next)); // else it becomes a choice, which waits
                    frame = next;
                }
            }
            return !frame || words.size() == kMostWords;
        });
}

} // namespace

bool matches(const Layout& layout, std::uintptr_t state, std::span<const std::uintptr_t> words,
             const std::uintptr_t* steps, Codes codes) noexcept
{
    return codes == Codes::are_the_same
               ? matches_as<Codes::are_the_same>(layout, state, words, steps)
               : matches_as<Codes::may_differ>(layout, state, words, steps);
}

} // namespace vramscope::capture::python
