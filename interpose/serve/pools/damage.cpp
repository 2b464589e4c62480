// interpose/serve/pools/damage.cpp — fill, read back, compare.
#include "interpose/serve/pools/damage.hpp"

#include <algorithm>
#include <mutex>

#include "interpose/hooks/current_context.hpp"
#include "interpose/hooks/inside_driver.hpp"
#include "interpose/serve/contexts/captures.hpp"
#include "tracker/capture/arena.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

constexpr std::uint8_t kRedZoneByte = 0xfd;

struct Window {
    std::uint8_t bytes[256 * 1024];
};

void fill(log::Thread& thread, std::uint64_t address, std::uint8_t byte,
          std::uint64_t bytes) noexcept
{
    const Driver* driver = Driver::find();
    if (driver && driver->fill_bytes && bytes)
        in_driver(thread, [&] { return driver->fill_bytes(address, byte, bytes); });
}

struct Difference {
    std::uint64_t first = 0; // distance from the start
    std::uint64_t bytes = 0; // 0: there is none
};

Difference compare(log::Thread& thread, std::uint64_t address, std::uint8_t expected,
                   std::uint64_t bytes) noexcept
{
    const Driver* driver = Driver::find();
    const capture::Scratch<Window> window;
    Difference difference;
    if (!driver || !driver->copy_to_host || !window)
        return difference;
    for (std::uint64_t at = 0; at < bytes;) {
        const std::uint64_t part = std::min<std::uint64_t>(sizeof window->bytes, bytes - at);
        if (in_driver(thread, [&] {
                return driver->copy_to_host(window->bytes, address + at, part);
            }) != CUDA_SUCCESS)
            break;
        for (std::uint64_t i = 0; i < part; ++i)
            if (window->bytes[i] != expected && difference.bytes++ == 0)
                difference.first = at + i;
        at += part;
    }
    return difference;
}

// `from` and the block's address, as the program knows it, tell the offset.
void check(Call& call, format::Damage kind, std::uint64_t block, std::uint64_t from,
           std::uint8_t expected, std::uint64_t bytes) noexcept
{
    const Difference found = compare(call.thread, from, expected, bytes);
    if (found.bytes)
        log::write_with_stack(call.thread, call.site, 0,
                              format::Damaged{kind, block,
                                              static_cast<std::int64_t>(from + found.first - block),
                                              found.bytes});
}

// Blocks that the pool kept while a stream was captured, when nothing may be read or filled: what
// is in them says nothing.
class Unfilled {
public:
    void add(std::uint64_t address, std::uint64_t bytes) noexcept
    {
        const std::lock_guard guard(lock_);
        if (count_ == kMost)
            all_ = true; // from here on nobody is blamed
        else
            spans_[count_++] = {address, address + bytes};
    }
    // Whether any of this was not filled. It is the program's now, and is filled at its free.
    bool take(std::uint64_t address, std::uint64_t bytes) noexcept
    {
        const std::lock_guard guard(lock_);
        bool any = all_;
        for (std::size_t at = 0; at < count_;) {
            const bool overlaps = spans_[at].begin < address + bytes && address < spans_[at].end;
            any = any || overlaps;
            if (overlaps && spans_[at].begin >= address && spans_[at].end <= address + bytes)
                spans_[at] = spans_[--count_];
            else
                ++at;
        }
        return any;
    }

private:
    static constexpr std::size_t kMost = 256;
    struct Span {
        std::uint64_t begin, end;
    };
    capture::Lock lock_;
    Span spans_[kMost] = {};
    std::size_t count_ = 0;
    bool all_ = false;
};
constinit Unfilled unfilled;

pool::Lookup live_block(ContextPool& owner, std::uint64_t address) noexcept
{
    return owner.with([&](auto& pool) { return pool.find(address - red_zone_bytes()); });
}

} // namespace

void poison_segment(log::Thread& thread, std::uint64_t address, std::uint64_t bytes) noexcept
{
    const int poison = log::settings().poison;
    if (poison < 0)
        return;
    (void)unfilled.take(address, bytes);
    fill(thread, address, static_cast<std::uint8_t>(poison), bytes);
}

void prepare_block(Call& call, const pool::Allocation& block, std::uint64_t requested) noexcept
{
    const std::uint64_t margin = red_zone_bytes();
    if (const int poison = log::settings().poison; poison >= 0) {
        const auto byte = static_cast<std::uint8_t>(poison);
        if (unfilled.take(block.address, block.block_bytes)) // to read it waits for fills, too
            (void)compare(call.thread, block.address, byte, block.block_bytes);
        else
            check(call, format::Damage::use_after_free, block.address + margin, block.address, byte,
                  block.block_bytes);
    }
    if (!margin)
        return;
    const std::uint64_t end = margin + requested;
    fill(call.thread, block.address, kRedZoneByte, margin);
    fill(call.thread, block.address + end, kRedZoneByte, block.block_bytes - end);
}

void check_red_zones(Call& call, ContextPool& owner, std::uint64_t address) noexcept
{
    const std::uint64_t margin = red_zone_bytes();
    const pool::Lookup block = margin ? live_block(owner, address) : pool::Lookup{};
    if (block.state != pool::State::live || passing_through()) // a capture would end by it
        return;
    const ContextMadeCurrent made(Driver::find(), owner.upstream().context());
    const std::uint64_t end = block.address + block.requested - margin;
    check(call, format::Damage::underrun, address, block.address, kRedZoneByte, margin);
    check(call, format::Damage::overrun, address, end, kRedZoneByte,
          block.address + block.bytes - end);
}

void poison_block(Call& call, ContextPool& owner, std::uint64_t address) noexcept
{
    const int poison = log::settings().poison;
    const pool::Lookup block = poison >= 0 ? live_block(owner, address) : pool::Lookup{};
    if (block.state != pool::State::live)
        return;
    if (passing_through())
        return unfilled.add(block.address, block.bytes);
    const ContextMadeCurrent made(Driver::find(), owner.upstream().context());
    fill(call.thread, block.address, static_cast<std::uint8_t>(poison), block.bytes);
}

} // namespace vramscope::hooks
