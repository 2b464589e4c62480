// report/findings/live.cpp — one reading and one replay that are never begun anew.
#include "report/findings/live.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "report/findings/findings.hpp"
#include "report/findings/followed.hpp"
#include "report/findings/growth/growth_table.hpp"
#include "report/judge/judge.hpp"
#include "report/log/log_file.hpp"
#include "report/replay/heap/stack_sums.hpp"
#include "report/replay/pool/segment_replay.hpp"
#include "report/replay/reading/reading.hpp"

namespace vramscope::report {
namespace {

// steady_clock is CLOCK_MONOTONIC, as in the log.
std::uint64_t monotonic_ns()
{
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

// Sums up the blocks that are alive.
class Holdings {
public:
    explicit Holdings(LiveState& state) : state_(state) {}

    void add(const Block& block)
    {
        if (!is_own_memory(block.memory))
            return;
        const bool host = class_of(block.memory) == format::MemoryClass::host;
        (host ? state_.host_bytes : state_.device_bytes) += block.bytes;
        (host ? state_.host_blocks : state_.device_blocks) += 1;
        if (!host) {
            LiveDevice& device = device_of(block.device);
            device.held_bytes += block.bytes;
            ++device.blocks;
        }
        stacks_.add(block);
    }

    LiveDevice& device_of(std::int32_t ordinal)
    {
        const auto at = std::lower_bound(
            state_.devices.begin(), state_.devices.end(), ordinal,
            [](const LiveDevice& device, std::int32_t wanted) { return device.ordinal < wanted; });
        if (at != state_.devices.end() && at->ordinal == ordinal)
            return *at;
        LiveDevice device;
        device.ordinal = ordinal;
        return *state_.devices.insert(at, device);
    }

    const StackSums& stacks() const noexcept { return stacks_; }

private:
    LiveState& state_;
    StackSums stacks_;
};

} // namespace

class LiveReport::Impl {
public:
    Impl(const std::filesystem::path& log, SymbolizerOptions symbols)
        : file_(LogFile::open(log)), symbolizer_(std::move(symbols))
    {
        replay_.watch(growth_);
        suppressions_.add_built_in();
    }

    format::Clock clock() const noexcept { return file_.header().clock; }

    void read(std::uint64_t ticks)
    {
        wait_for_the_opening();
        file_.refresh();
        reading_.go_on(ticks, [this](const Record& record) {
            const bool rare = !is_hot(record.tag);
            if (rare)
                steps_.before(record);
            replay_.apply(record);
            segments_.apply(record);
            if (rare)
                after_rare(record);
        });
    }

    LiveState state(std::size_t most_stacks)
    {
        // Stacks that differ in hidden frames alone become one row: some are looked at in vain.
        constexpr std::size_t kPerRow = 4;
        LiveState state;
        fill_in_header(state);
        Holdings holdings(state);
        replay_.for_each_alive([&](const Block& block) { holdings.add(block); });
        for (const LoggedDevice& known : tables_.devices()) {
            LiveDevice& device = holdings.device_of(known.ordinal);
            device.name = known.name;
            device.total_bytes = known.bytes;
        }
        if (segments_.seen())
            for (const DevicePool& pool : segments_.devices())
                fill_in_pool(holdings.device_of(pool.device), pool.stats);
        const ProcessEnd running{.kind = ProcessEnd::Kind::running};
        StackReader stacks(tables_, symbolizer_, ShownFrames::own, &suppressions_);
        stacks.find_wrappers(replay_.sites().all());
        const LeakSource source{tables_, reading_.clock(), running, state.age_ns, 0, stacks};
        const std::vector<LostBlocks> held = holdings.stacks().largest(most_stacks * kPerRow);
        follow_wrong_frees();
        state.findings = findings(held, source);
        state.stacks = find_leaks(held, source).leaks;
        sort_by_size(state.stacks);
        const std::size_t looked_at = std::min(holdings.stacks().stacks(), most_stacks * kPerRow);
        state.more_stacks = holdings.stacks().stacks() - looked_at;
        if (state.stacks.size() > most_stacks) {
            state.more_stacks += state.stacks.size() - most_stacks;
            state.stacks.resize(most_stacks);
        }
        return state;
    }

private:
    void after_rare(const Record& record)
    {
        steps_.after(record);
        damages_.note(record);
        unfollowed_ |= record.tag == format::Tag::failed || record.tag == format::Tag::damaged;
    }

    // Each time it is a reading from the beginning, so it gets no more than a twentieth of the
    // time: a long log whose program goes on freeing wrongly is not read for each look.
    void follow_wrong_frees()
    {
        constexpr std::uint64_t kShare = 20;
        const std::uint64_t begin = monotonic_ns();
        if (!unfollowed_ || begin < may_follow_ns_)
            return;
        followed_.emplace(
            follow(reading_, replay_.failed_calls(), damages_, {}, file_.lost_events() == 0));
        unfollowed_ = false;
        const std::uint64_t end = monotonic_ns();
        may_follow_ns_ = end + kShare * (end - begin);
    }

    static void fill_in_pool(LiveDevice& device, const PoolStats& stats)
    {
        device.pooled = true;
        device.reserved_bytes = stats.reserved_bytes.all.current;
        device.allocated_bytes = stats.allocated_bytes.all.current;
        device.pending_bytes = stats.active_bytes.all.current - device.allocated_bytes;
    }

    // In the words of a report's headlines; what was done wrong, as it was followed last. Where
    // events are missing, nobody knows what grows.
    std::vector<Headline> findings(const std::vector<LostBlocks>& held,
                                   const LeakSource& source) const
    {
        const std::uint64_t last = replay_.counts().last_ticks;
        Report report;
        report.processes.emplace_back().coverage.lost.front() = file_.lost_events();
        report.growth = GrowthTable({.sites = replay_.sites(),
                                     .phases = replay_.phases(),
                                     .series = growth_,
                                     .steps = steps_,
                                     .wanted = nullptr,
                                     .work = {.allocations = growth_.allocations(),
                                              .begin_ticks = file_.header().start_ticks,
                                              .end_ticks = last},
                                     .log_end_ticks = last},
                                    held, source)
                            .growing();
        std::erase_if(report.growth, [](const Growth& row) { return row.suppression.has_value(); });
        if (followed_)
            add_rows(report, *followed_, {source.clock, source.stacks, source.process});
        std::vector<Headline> headlines = headlines_of(report);
        std::erase_if(headlines, [](const Headline& one) { return !one.is_finding(); });
        return headlines;
    }

    // The thread that opens a log then writes what its entry points do; other threads may be faster
    // with their first events.
    void wait_for_the_opening() const
    {
        constexpr std::uint64_t kOpening = 100'000'000;
        const std::uint64_t now = monotonic_ns();
        const std::uint64_t start = file_.header().start_ns;
        if (now >= start && now - start < kOpening)
            std::this_thread::sleep_for(std::chrono::nanoseconds(kOpening - (now - start)));
    }

    void fill_in_header(LiveState& state) const
    {
        const format::FileHeader& header = file_.header();
        const ReplayCounts& counts = replay_.counts();
        const std::uint64_t now = monotonic_ns();
        state.pid = header.pid;
        state.program = tables_.info_value("program");
        state.age_ns = now > header.start_ns ? now - header.start_ns : 0;
        state.peak_device_bytes = counts.memory.peak_device_bytes;
        state.peak_host_bytes = counts.memory.peak_host_bytes;
        state.events = counts.events;
        state.allocations = counts.allocations;
        state.frees = counts.frees;
        state.lost_events = file_.lost_events();
    }

    LogFile file_;
    Reading reading_{file_, {.runs_on = true}};
    LogTables& tables_ = reading_.tables();
    HeapReplay replay_{tables_, 0};
    SegmentReplay segments_{tables_};
    GrowthSeries growth_{replay_.sites(), WorkEnd(file_.header(), reading_.clock())};
    Steps steps_{replay_.phases()};
    Damages damages_;
    bool unfollowed_ = false;          // something was done wrong since
    std::optional<Followed> followed_; // none: nothing was done wrong
    std::uint64_t may_follow_ns_ = 0;
    Suppressions suppressions_; // those that are built in
    Symbolizer symbolizer_;
};

LiveReport::LiveReport(const std::filesystem::path& log, SymbolizerOptions symbols)
    : impl_(std::make_unique<Impl>(log, std::move(symbols)))
{
}
LiveReport::~LiveReport() = default;

format::Clock LiveReport::clock() const noexcept
{
    return impl_->clock();
}

void LiveReport::read(std::uint64_t ticks)
{
    impl_->read(ticks);
}

LiveState LiveReport::state(std::size_t most_stacks)
{
    return impl_->state(most_stacks);
}

} // namespace vramscope::report
