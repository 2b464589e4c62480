// tracker/log/origins.cpp — a table of words, and the stacks of native frames and an origin.
#include "tracker/log/origins.hpp"

#include <iterator>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/signals.hpp"
#include "tracker/capture/stack_table.hpp"
#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/process.hpp"

namespace vramscope::log {

constinit Origins origins;
constinit std::atomic<FindOrigin> find_origin{nullptr};

namespace {

constinit capture::StackTable pairs; // each is a stack and its origin

constexpr std::uintptr_t kLeaf = UINTPTR_MAX; // in the place of an origin

struct Pair {
    std::uintptr_t words[2]; // the stack and its origin
    std::uint64_t hash = capture::hash_frames(words, std::size(words), 0);

    std::uint32_t find() const noexcept { return pairs.find(hash, words, std::size(words)); }
};

// Signals are held: the thread may not leave by a jump while it writes.
[[gnu::noinline, gnu::cold]] std::uint32_t learn(Thread& thread, const Pair& pair,
                                                 format::PythonStack record) noexcept
{
    const capture::SignalsHeld held;
    const std::uint32_t id = stack_table.new_id();
    if (id == 0)
        count_lost(format::Lost::table_full);
    record.id = id;
    if (id == 0 || !write(thread, record))
        return static_cast<std::uint32_t>(pair.words[0]);
    return pairs.publish(pair.hash, pair.words, std::size(pair.words), id);
}

} // namespace

bool Origins::open() noexcept
{
    if (!places_)
        places_ = static_cast<std::atomic<std::uint64_t>*>(
            capture::map_pages(kPlaces * sizeof(std::atomic<std::uint64_t>)));
    return places_ != nullptr;
}

void Origins::forget_stacks() noexcept
{
    constexpr std::uint64_t kStack = (std::uint64_t{1} << kStackBits) - 1;
    for (std::size_t at = 0; places_ && at < kPlaces; ++at)
        places_[at].fetch_and(~kStack, std::memory_order_relaxed);
}

void Origins::remember(std::uint64_t thread, std::uint64_t number, std::uint32_t stack) noexcept
{
    if (fits(thread, number))
        place_of(thread, number)
            .store(key_of(thread, number) << kStackBits | stack, std::memory_order_relaxed);
}

std::optional<std::uint32_t> Origins::find(std::uint64_t thread,
                                           std::uint64_t number) const noexcept
{
    if (!fits(thread, number))
        return std::nullopt;
    const std::uint64_t word = place_of(thread, number).load(std::memory_order_relaxed);
    if (word >> kStackBits != key_of(thread, number))
        return std::nullopt;
    return static_cast<std::uint32_t>(word & ((std::uint64_t{1} << kStackBits) - 1));
}

bool open_origins() noexcept
{
    return origins.open() && pairs.open();
}

std::uint32_t add_origin(Thread& thread, std::uint32_t stack) noexcept
{
    const FindOrigin find = find_origin.load(std::memory_order_acquire);
    const std::uint32_t origin = find ? find(thread) : 0;
    if (origin == 0)
        return stack;
    if (stack == 0)
        return origin;
    const Pair pair{{stack, origin}};
    const std::uint32_t known = pair.find();
    return known ? known : learn(thread, pair, {0, stack, origin, 0, 0, {}});
}

std::uint32_t origin_of_leaf(Thread& thread) noexcept
{
    using format::PythonStack;
    const Pair pair{{0, kLeaf}};
    const std::uint32_t known = pair.find();
    return known
               ? known
               : learn(thread, pair, {0, 0, 0, PythonStack::kUnplaced | PythonStack::kLeaf, 0, {}});
}

void forget_origins_of_parent() noexcept
{
    if (!find_origin.load(std::memory_order_acquire))
        return;
    origins.forget_stacks();
    pairs.reset_after_fork();
    if (!pairs.open())
        find_origin.store(nullptr);
}

} // namespace vramscope::log
