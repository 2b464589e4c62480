// report/replay/peak.hpp — what was alive at the peak of each device, and its fate.
//
// The moment of a peak is known only when it has passed. So a site that changes after a peak first
// saves what it had then; sites that never changed again have it still. What is freed after the
// peak is summed up by what its time and its phase prove. Memory grows with sites and with kinds of
// phases. A watch of HeapReplay, behind DeviceMemory; feed it every record twice: before HeapReplay
// has it, and after.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/heap/site_vector.hpp"
#include "report/replay/memory.hpp"

namespace vramscope::report {

// What one site had at the peak of its device.
struct PeakHolding {
    SiteId site = 0;
    std::uint64_t bytes = 0; // at the peak
    std::uint64_t blocks = 0;
    std::uint64_t kept_bytes = 0; // the part of these that was never freed
    std::uint64_t kept_blocks = 0;
    // Its phase was over at the peak, and no other of that name was open.
    bool phase_was_over = false;
    // What was kept for a phase whose name was seen only after the peak: freed in it, or, where its
    // own phase was over at the peak, freed after it had begun; and the first such phase.
    std::uint64_t early_bytes = 0;
    std::uint64_t early_blocks = 0;
    PhaseKind early_phase = 0;
    // What was freed before any phase began that was not open at the peak, and not inside of one.
    std::uint64_t late_bytes = 0;
    std::uint64_t late_blocks = 0;
    // Of a block that lived beside a larger one of its site, which made the peak, and that was
    // freed next of the site: an old buffer, and what took its place.
    std::uint64_t copied_bytes = 0;
};

// How often a site allocated, right after a block of its own was freed, one of the same size.
struct RepeatedPairs {
    SiteId site = 0;
    std::uint64_t pairs = 0;
    std::uint64_t bytes = 0; // the size of each block; 0: sizes differ
};

class PeakHolders final : public BlockWatch {
public:
    // Phases of devices beyond these are not followed.
    static constexpr std::size_t kMostDevices = 16;

    // Both outlive this.
    PeakHolders(const HeapReplay& heap, const DeviceMemory& memory) : heap_(heap), memory_(memory)
    {
    }

    void before(const Record& record)
    {
        thread_ = record.thread;
        if (record.tag == format::Tag::range_pop)
            close_phase(record.thread);
    }
    void after(const Record& record)
    {
        if (record.tag == format::Tag::range_push)
            open_phase(record);
    }

    // Of each device in DeviceMemory, its sites that had anything at its peak, in their order.
    std::vector<std::vector<PeakHolding>> at_peaks() const;
    std::vector<std::vector<RepeatedPairs>> repeated_pairs() const;
    // When the first range of this kind began; 0: none did.
    std::uint64_t first_ticks(PhaseKind kind) const noexcept
    {
        return kind < kinds_.size() ? kinds_[kind].first_ticks : 0;
    }

    void prefetch(SiteId site) const override { sites_.prefetch(site); }
    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block& block, std::uint64_t ticks) override;
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

    auto state() noexcept
    {
        return std::tie(sites_, gone_, kinds_, after_peak_);
    } // see report/checkpoint
    bool rebuild();

private:
    // What each event of a site looks at.
    struct AtPeak {
        std::uint64_t peak = 0; // the rest of these is valid as long as this is the device's last
        std::uint64_t bytes = 0;
        std::uint64_t blocks = 0;
        // How often it allocated what it had freed.
        std::uint64_t copied = 0; // see PeakHolding; of this peak too
        // Of its last two allocations.
        std::uint64_t newest_ticks = 0;
        std::uint64_t newest_bytes = 0;
        std::uint64_t before_ticks = 0;
        std::uint64_t last_freed = 0; // bytes, if nothing was allocated since
        std::uint64_t pairs = 0;
        std::uint64_t pair_bytes = 0;
        bool pairs_differ = false;
    };
    // What was there at the peak and is gone; valid as long as that is the device's last.
    struct Gone {
        std::uint64_t peak = 0;
        std::uint64_t bytes = 0;
        std::uint64_t blocks = 0;
        std::uint64_t early_bytes = 0; // the part of these that was early; then late
        std::uint64_t early_blocks = 0;
        std::uint64_t late_bytes = 0;
        std::uint64_t late_blocks = 0;
        PhaseKind early_phase = 0;
    };
    struct Kind {
        std::uint32_t open = 0;
        bool seen = false;
        std::size_t depth = 0; // 1: no range is around it
        std::uint64_t first_ticks = 0;
        struct Open {
            std::uint64_t peak = 0;
            std::uint32_t ranges = 0;
        };
        std::vector<Open> of_device; // indexed as DeviceMemory's devices
    };

    // Phases that began behind a peak and were not open at it, the last of each depth.
    struct Later {
        PhaseKind unseen = 0; // its name was not seen before the peak
        PhaseKind known = 0;  // it was
    };
    struct AfterPeak {
        std::uint64_t peak = 0;
        std::vector<Later> by_depth;
    };

    AtPeak& save(SiteId site, const DeviceMemory::Device& device, std::uint64_t bytes,
                 std::uint64_t blocks);
    Gone& gone_since_peak(const Block& block, const DeviceMemory::Device& device);
    void open_phase(const Record& record);
    void close_phase(std::uint32_t thread);
    Kind& kind_at(std::uint32_t thread);
    void save(Kind& kind);
    bool was_over(PhaseKind kind, std::size_t device) const;
    bool seen_after(PhaseKind kind, std::uint64_t ticks) const;
    void note_later(const Kind& kind, PhaseKind number);
    Later kept_for(PhaseKind phase, const DeviceMemory::Device& device) const;

    const HeapReplay& heap_;
    const DeviceMemory& memory_;
    SiteVector<AtPeak> sites_;
    SiteVector<Gone> gone_;
    std::vector<Kind> kinds_;
    std::vector<AfterPeak> after_peak_; // indexed as DeviceMemory's devices
    std::uint32_t thread_ = 0;          // the thread of the record that HeapReplay has
};

} // namespace vramscope::report
