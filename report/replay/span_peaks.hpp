// report/replay/span_peaks.hpp — what was alive at the highest moment of each span of the run, and
// which blocks came and left in it.
//
// Of each device, and of the host, whose memory is no device's. A place's time is in at most
// kMostSpans spans, each short both beside the run's time and beside its events: so a loop has its
// moments, be it a hundredth of either. When there are too many, two become one, which keeps the
// higher moment of both. As with the peak, a site that changes behind the highest moment first
// saves what it had then. A span ends with a walk over all sites: make one only where moments are
// wanted. A watch of HeapReplay, behind DeviceMemory; finish it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "report/replay/churn.hpp"
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/site_vector.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/span_lives.hpp"

namespace vramscope::report {

struct SpanPeak {
    std::uint64_t begin_ticks = 0; // of the span
    std::uint64_t ticks = 0;       // the first moment at which the most was alive
    std::uint64_t bytes = 0;       // of the program's memory there, as it was requested
    std::uint64_t blocks = 0;
    std::vector<SiteShare> shares; // the largest, in no order
    // How many blocks were born in the span, by the std::bit_width of their sizes; and of those
    // that the program freed in it, how long they lived: in the bins of ChurnCounts.
    std::array<std::uint64_t, 65> sizes{};
    std::array<std::uint64_t, ChurnCounts::kLifetimes> lifetimes{};
};

class SpanPeaks final : public BlockWatch {
public:
    static constexpr std::size_t kMostSpans = 128;
    static constexpr std::size_t kMostShares = 256;
    // Where sites need more sums than these, spans are fewer, but for the fewest.
    static constexpr std::size_t kMostSums = std::size_t{3} << 19;
    static constexpr std::size_t kFewestSpans = 8;

    // All outlive this.
    SpanPeaks(const Sites& sites, const DeviceMemory& memory, const TickClock& clock)
        : sites_(sites), memory_(memory), clock_(clock)
    {
    }

    // Before the first event, where what was there before is known by the sums of the sites alone:
    // each place's first span is that moment, what was alive then came in it, and it stays apart.
    void begin(std::uint64_t ticks);
    std::optional<std::uint64_t> begun() const noexcept { return begun_; } // none: with the log
    void finish(std::uint64_t end_ticks);

    // Places are numbers: the host, and each device in DeviceMemory.
    static constexpr std::size_t kHost = 0;
    static constexpr std::size_t place_of_device(std::size_t index) noexcept { return index + 1; }

    // In order of time, without a gap from the first on.
    std::vector<SpanPeak> of(std::size_t place) const;
    // Of its sites; spans are indices into of().
    std::map<SiteId, std::vector<SpanLife>> lives_of(std::size_t place) const;

    void prefetch(SiteId site) const override
    {
        saved_.prefetch(site);
        lives_.prefetch(site);
    }
    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block& block, std::uint64_t ticks) override;
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

private:
    static constexpr std::size_t kNone = SIZE_MAX;
    // What a site had at a moment; valid as long as that is the highest of its place's last span.
    struct Saved {
        std::uint64_t moment = 0;
        std::uint64_t bytes = 0;
        std::uint64_t blocks = 0;
    };
    struct Done : SpanPeak {
        std::uint32_t number = 0; // see SpanLives
        std::uint64_t events = 0;
        std::uint64_t ticks_long = 0;
    };
    struct Spans {
        std::vector<Done> done;
        std::uint64_t first_ticks = 0;
        std::uint64_t last_ticks = 0;
        std::uint64_t events = 0; // the last one included
        // Of the span that is not done.
        std::uint32_t number = 0;
        SpanPeak counts; // sizes and lifetimes alone
        std::uint64_t begin_ticks = 0;
        std::uint64_t begin_events = 0; // how many were before it
        std::uint64_t high = 0;         // the most that was alive, first at high_ticks
        std::uint64_t high_ticks = 0;
        std::uint64_t moment = 0; // number of that moment; 0: there is no span

        void join_least(std::size_t first); // of those from there on
        SpanLives::Span span_at(std::uint64_t ticks) const;
        std::vector<std::uint32_t> numbers() const;
    };
    // An event of some sites of one place. `bytes`: what all have behind it; `level`: what they had
    // before; `before`: what these had.
    struct Change {
        std::size_t place;
        std::uint64_t bytes;
        std::uint64_t ticks;
        std::span<const SiteShare> before;
        std::uint64_t level;
    };

    Spans& note(const Change& change);
    Spans& note_left(std::size_t place, const Block& block, std::uint64_t ticks);
    // Rare, and much: what is done for each event is flat without it.
    [[gnu::noinline]] void turn(Spans& spans, const Change& change, bool after_a_gap);
    void open(Spans& spans, std::uint64_t begin_ticks, std::uint64_t level);
    void begin_at(std::size_t place);
    std::size_t first_joined() const noexcept { return begun_ ? 1 : 0; }
    void close(Spans& spans, std::size_t place, std::uint64_t end_ticks);
    void save(const Spans& spans, std::span<const SiteShare> before);
    std::size_t place_of(format::Memory memory, std::int32_t device) const; // kNone: of no place
    std::uint64_t bytes_of(std::size_t place) const;
    void join_grown(std::size_t place);
    void join_all();
    void bound_sums();

    const Sites& sites_;
    const DeviceMemory& memory_;
    const TickClock& clock_;
    SpanLives lives_;
    std::size_t most_spans_ = kMostSpans;
    SiteVector<Saved> saved_;
    std::vector<Spans> spans_; // of each place
    std::uint64_t host_bytes_ = 0;
    std::uint64_t moments_ = 0;
    std::optional<std::uint64_t> begun_;
};

} // namespace vramscope::report
