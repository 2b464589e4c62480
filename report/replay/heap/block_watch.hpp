// report/replay/heap/block_watch.hpp — the interface that is told of every block's birth and end.
//
// HeapReplay calls it within apply(), after its own sums and those of Sites were changed. A block
// is born once and leaves at most once; what is there at the end has not left. Of one graph's
// memory, and of a mapping that is opened again, only the first birth is told.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "report/replay/heap/sites.hpp"

namespace vramscope::report {

class BlockWatch {
public:
    virtual ~BlockWatch() = default;

    // What it keeps of the site will be read soon.
    virtual void prefetch(SiteId) const {}
    virtual void born(const Block& block) = 0;
    // The program gave it back.
    virtual void freed(const Block& block, std::uint64_t ticks) = 0;
    // It left otherwise: its free was not seen, or was in flight at the end.
    virtual void gone(const Block& block, std::uint64_t ticks) = 0;
    // These died with their context. The span is valid during the call.
    virtual void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) = 0;
};

// Tells several, one after the other. As they are of known types, one virtual call is enough; and
// flat, what they do is one function, where the compiler sees it.
template <typename... Watches>
class EachWatch final : public BlockWatch {
public:
    explicit EachWatch(Watches&... watches) : watches_(watches...) {} // they outlive this

    [[gnu::flatten]] void prefetch(SiteId site) const override
    {
        each([&](const auto& watch) { watch.prefetch(site); });
    }
    [[gnu::flatten]] void born(const Block& block) override
    {
        each([&](auto& watch) { watch.born(block); });
    }
    [[gnu::flatten]] void freed(const Block& block, std::uint64_t ticks) override
    {
        each([&](auto& watch) { watch.freed(block, ticks); });
    }
    void gone(const Block& block, std::uint64_t ticks) override
    {
        each([&](auto& watch) { watch.gone(block, ticks); });
    }
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override
    {
        each([&](auto& watch) { watch.context_gone(losses, ticks); });
    }

private:
    template <typename Tell>
    void each(Tell tell) const
    {
        std::apply([&](auto&... watch) { (tell(watch), ...); }, watches_);
    }
    std::tuple<Watches&...> watches_;
};

} // namespace vramscope::report
