// report/findings/live.cpp — one reading and one replay that are never begun anew.
#include "report/findings/live.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "report/checkpoint/log_replay.hpp"
#include "report/findings/findings.hpp"
#include "report/findings/followed.hpp"
#include "report/findings/growth/growth_table.hpp"
#include "report/findings/live_holdings.hpp"
#include "report/judge/judge.hpp"
#include "report/log/log_file.hpp"

namespace vramscope::report {
namespace {

// steady_clock is CLOCK_MONOTONIC, as in the log.
std::uint64_t monotonic_ns()
{
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

} // namespace

class LiveReport::Impl {
public:
    Impl(const std::filesystem::path& log, SymbolizerOptions symbols, CheckpointStore* checkpoints)
        : file_(LogFile::open(log, LogFile::Collected::taken)), checkpoints_(checkpoints),
          symbolizer_(std::move(symbols))
    {
        suppressions_.add_built_in();
    }

    format::Clock clock() const noexcept { return file_.header().clock; }

    void read(std::uint64_t ticks, const std::function<bool()>& enough)
    {
        wait_for_the_opening();
        file_.hold(); // until state() is done
        file_.refresh();
        if (file_.header().checkpoint != checkpoint_)
            begin_anew();
        const auto apply = [this](const RecordBatch& batch, const SegmentReplay& pool) {
            log_->apply(batch, pool);
            for (const Record& record : batch.records())
                unfollowed_ |=
                    record.tag == format::Tag::failed || record.tag == format::Tag::damaged;
        };
        all_read_ = log_->reading.go_on(ticks, apply, [&] { return enough && enough(); });
        if (all_read_ && ticks != UINT64_MAX) // else it has ended
            keep_checkpoint(*log_, checkpoints_);
    }

    LiveState state(std::size_t most_stacks)
    {
        // Stacks that differ in hidden frames alone become one row: some are looked at in vain.
        constexpr std::size_t kPerRow = 4;
        LiveState state;
        const LetGo let_go{file_};
        fill_in_header(state);
        LiveHoldings holdings(state);
        log_->replays.heap.for_each_alive([&](const Block& block) { holdings.add(block); });
        for (const LoggedDevice& known : log_->reading.tables().devices()) {
            LiveDevice& device = holdings.device_of(known.ordinal);
            device.name = known.name;
            device.uuid =
                log_->reading.tables().info_value(fmt::format("device.{}.uuid", known.ordinal));
            device.total_bytes = device.limit_bytes = known.bytes;
        }
        for (const DeviceMemory::Device& known : log_->replays.memory.devices())
            fill_in_memory(holdings.device_of(known.ordinal), known);
        if (log_->reading.pool().seen())
            for (const DevicePool& pool : log_->reading.pool().devices())
                fill_in_pool(holdings.device_of(pool.device), pool.stats);
        const ProcessEnd running{.kind = ProcessEnd::Kind::running};
        StackReader stacks(log_->reading.tables(), symbolizer_, ShownFrames::own, &suppressions_);
        stacks.find_wrappers(log_->replays.heap.sites().all());
        const LeakSource source{
            log_->reading.tables(), log_->reading.clock(), running, state.age_ns, 0, stacks};
        const std::vector<LostBlocks> held = holdings.stacks().largest(most_stacks * kPerRow);
        if (all_read_)
            follow_wrong_frees();
        const GrowthTable growth = growth_table(held, source);
        state.growing = growing(growth);
        state.findings = findings(state.growing, source);
        state.stacks = find_leaks(held, source, &growth).leaks;
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
    struct LetGo {
        LogFile& file;
        ~LetGo() { file.release(); }
    };

    // A collector has given back chunks that perhaps were not read.
    void begin_anew()
    {
        log_ = begin_replay(file_, kExtent, {}, checkpoints_);
        checkpoint_ = file_.header().checkpoint;
        unfollowed_ = true;
    }

    // Each time it is a reading from the beginning, so it gets no more than a twentieth of the
    // time: a long log whose program goes on freeing wrongly is not read for each look.
    void follow_wrong_frees()
    {
        constexpr std::uint64_t kShare = 20;
        const std::uint64_t begin = monotonic_ns();
        if (!unfollowed_ || begin < may_follow_ns_)
            return;
        const bool complete = file_.lost_events() == 0;
        const FailedCalls& failed = log_->replays.heap.failed_calls();
        if (log_->wrong_frees)
            followed_.emplace(follow(*log_->wrong_frees, failed, complete));
        else
            followed_.emplace(follow(log_->reading, failed, log_->replays.damages, {}, complete));
        unfollowed_ = false;
        const std::uint64_t end = monotonic_ns();
        may_follow_ns_ = end + kShare * (end - begin);
    }

    GrowthTable growth_table(const std::vector<LostBlocks>& held, const LeakSource& source) const
    {
        const HeapReplay& heap = log_->replays.heap;
        const std::uint64_t last = heap.counts().last_ticks;
        const Work work{.allocations = log_->replays.growth.allocations(),
                        .begin_ticks = file_.header().start_ticks,
                        .end_ticks = last};
        return {{.sites = heap.sites(),
                 .phases = heap.phases(),
                 .series = log_->replays.growth,
                 .steps = {log_->replays.steps, work},
                 .wanted = nullptr,
                 .work = work,
                 .log_end_ticks = last},
                held,
                source};
    }

    static void fill_in_memory(LiveDevice& device, const DeviceMemory::Device& known)
    {
        device.memory = DeviceMemory::now(known);
        device.peak_allocated = known.peak.parts.allocated;
        if (known.total > 0)
            device.limit_bytes = known.total;
    }

    static void fill_in_pool(LiveDevice& device, const PoolStats& stats)
    {
        device.pooled = true;
        device.reserved_bytes = stats.reserved_bytes.all.current;
        device.allocated_bytes = stats.allocated_bytes.all.current;
        device.pending_bytes = stats.active_bytes.all.current - device.allocated_bytes;
    }

    // Where events are missing, nobody knows what grows.
    std::vector<Growth> growing(const GrowthTable& growth) const
    {
        if (file_.lost_events() > 0)
            return {};
        std::vector<Growth> rows = growth.growing();
        std::erase_if(rows, [](const Growth& row) {
            return row.suppression.has_value() || format::is_object(row.memory);
        });
        return rows;
    }

    // In the words of a report's headlines; what was done wrong, as it was followed last.
    std::vector<Headline> findings(const std::vector<Growth>& growing,
                                   const LeakSource& source) const
    {
        Report report;
        report.processes.emplace_back();
        report.growth = growing;
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
        const ReplayCounts& counts = log_->replays.heap.counts();
        const std::uint64_t now = monotonic_ns();
        state.pid = header.pid;
        const LogTables& tables = log_->reading.tables();
        state.program = tables.info_value("program");
        state.rank = tables.info_value("rank");
        state.job = tables.info_value("job");
        state.opened_real_ns = header.start_real_ns;
        state.age_ns = now > header.start_ns ? now - header.start_ns : 0;
        state.peak_device_bytes = counts.memory.peak_device_bytes;
        state.peak_host_bytes = counts.memory.peak_host_bytes;
        state.events = counts.events;
        state.allocations = counts.allocations;
        state.frees = counts.frees;
        state.lost_events = file_.lost_events();
        state.shortages = log_->replays.shortages.count();
        if (!all_read_) {
            state.fraction_read = log_->reading.reader().fraction_read();
            state.read_to_ns = log_->reading.clock().ns(counts.last_ticks);
        }
    }

    static constexpr ReadingExtent kExtent{.runs_on = true, .follows = true};

    LogFile file_;
    CheckpointStore* checkpoints_;
    std::unique_ptr<LogReplay> log_ = begin_replay(file_, kExtent, {}, checkpoints_);
    std::uint64_t checkpoint_ = file_.header().checkpoint; // that it began with
    bool all_read_ = false;                                // of what there was at the last read()
    bool unfollowed_ = true;                               // perhaps something was done wrong since
    std::optional<Followed> followed_;                     // none: nothing was done wrong
    std::uint64_t may_follow_ns_ = 0;
    Suppressions suppressions_; // those that are built in
    Symbolizer symbolizer_;
};

LiveReport::LiveReport(const std::filesystem::path& log, SymbolizerOptions symbols,
                       CheckpointStore* checkpoints)
    : impl_(std::make_unique<Impl>(log, std::move(symbols), checkpoints))
{
}
LiveReport::~LiveReport() = default;

format::Clock LiveReport::clock() const noexcept
{
    return impl_->clock();
}

void LiveReport::read(std::uint64_t ticks, const std::function<bool()>& enough)
{
    impl_->read(ticks, enough);
}

LiveState LiveReport::state(std::size_t most_stacks)
{
    return impl_->state(most_stacks);
}

} // namespace vramscope::report
