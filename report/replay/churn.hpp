// report/replay/churn.hpp — how blocks come and go.
//
// How many there are, how large, how long they live, and which of them were not needed.
//
// A block is *temporary* if its free is the next thing that happens to its device's memory, as
// heaptrack counts it: an allocation of the same size and stack, and nothing in between. A pair is
// *redundant* if a site frees a block and allocates one of that size again: it could have kept it.
// Only device and host memory. Memory grows with sites.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "report/log/chunk_cursor.hpp"
#include "report/log/tick_clock.hpp"
#include "report/model/churn.hpp"
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/from_driver.hpp"
#include "report/replay/heap/site_vector.hpp"

namespace vramscope::report {

struct SiteChurn : ChurnNumbers {
    // Sizes that it freed and did not allocate again since; the one used last comes first.
    struct Freed {
        std::uint64_t bytes = 0;
        std::uint64_t blocks = 0;
    };
    std::array<Freed, 3> freed{};

    auto state() noexcept { return std::tie(static_cast<ChurnNumbers&>(*this), freed); }
};

struct DriverCallSum {
    std::uint64_t calls = 0;
    std::uint64_t ticks = 0;
    std::uint64_t longest_ticks = 0;
};

class ChurnCounts final : public BlockWatch {
public:
    // Lifetimes: below 1 us, 10 us, ... 10 s; the last one beyond.
    static constexpr std::size_t kLifetimes = 9;
    struct Sizes {
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;
    };

    explicit ChurnCounts(const TickClock& clock) : clock_(clock) {}

    // To be given each record of the log, before the replay has it.
    void note(const Record& record);

    void prefetch(SiteId site) const override { sites_.prefetch(site); }
    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block& block, std::uint64_t ticks) override;
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

    static std::size_t bin_of(std::uint64_t life_ns) noexcept; // index into lifetimes()

    // Beside Sites::all(), up to the last site that it knows.
    const SiteVector<SiteChurn>& sites() const noexcept { return sites_; }
    ChurnNumbers sum() const;
    const std::array<Sizes, 65>& sizes() const noexcept { return sizes_; } // by std::bit_width
    const std::array<std::uint64_t, kLifetimes>& lifetimes() const noexcept { return lifetimes_; }
    // By entry point, as the log numbers them.
    const std::unordered_map<std::uint64_t, DriverCallSum>& driver() const noexcept
    {
        return driver_;
    }

    auto state() noexcept
    {
        return std::tie(sites_, last_, sizes_, lifetimes_, driver_, from_driver_);
    } // see report/checkpoint

private:
    // The last allocation of a device, if nothing was freed since.
    struct Last {
        bool fresh = false;
        std::uint64_t stack = 0;
        std::uint64_t bytes = 0;
    };

    Last& last_of(const Block& block)
    {
        std::size_t slot = 0;
        if (class_of(block.memory) != format::MemoryClass::host)
            slot = block.device < 0 ? 1 : static_cast<std::size_t>(block.device) + 2;
        if (slot >= last_.size())
            last_.resize(slot + 1);
        return last_[slot];
    }
    static void note_freed(SiteChurn& site, std::uint64_t bytes);

    const TickClock& clock_;
    SiteVector<SiteChurn> sites_;
    std::vector<Last> last_; // the host's, unknown devices', then each device's
    std::array<Sizes, 65> sizes_{};
    std::array<std::uint64_t, kLifetimes> lifetimes_{};
    std::unordered_map<std::uint64_t, DriverCallSum> driver_;
    FromDriver from_driver_;
};

} // namespace vramscope::report
