// report/exporters/block_lives.hpp — every block of a log, when it ends, and how it ended.
//
// Those that are alive at the end come last, in the order of their allocation.
//
// What a block is and what was never freed is as in the report, so that blocks add up to its sums.
// Of what died with its context, the bytes are those of its allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "report/exporters/exported_log.hpp"
#include "report/exporters/exported_memory.hpp"
#include "report/exporters/open_blocks.hpp"

namespace vramscope::report {

class BlockLives : public BlockWatch, private ExportedLog {
public:
    void born(const Block& block) override
    {
        if (is_wanted(block.memory, block.device, options_))
            open_.open(block, {block, phase_of(block)});
    }
    void freed(const Block& block, std::uint64_t ticks) override { end(block, "freed", ticks); }
    void gone(const Block& block, std::uint64_t ticks) override { end(block, "gone", ticks); }
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override
    {
        for (const SiteLoss& loss : losses) {
            std::vector<Open> died;
            for (auto& [address, open] : open_.close_site(loss.site))
                died.push_back(std::move(open));
            show_in_order(died, "context", reading_.ns(ticks));
        }
    }

protected:
    BlockLives(const std::filesystem::path& log, const ExportOptions& options,
               Symbolizer& symbolizer, const Suppressions* suppressions = nullptr)
        : ExportedLog(log, options),
          stacks_(known_.tables, symbolizer,
                  options.all_frames ? ShownFrames::all : ShownFrames::own, suppressions),
          reading_(file_, known_.last_ticks)
    {
    }

    // `end`: freed, gone, context or alive. `until_ns`: nothing where it is alive.
    virtual void show(const Block& block, const std::string& phase, const char* end,
                      std::optional<std::uint64_t> until_ns) = 0;

    void read_blocks()
    {
        find_wrappers();
        reading_.read(
            *this, [this](double part) { progress(kFirstReadings + (1 - kFirstReadings) * part); });
        std::vector<Open> living;
        reading_.for_each_alive([&](const Block& block) {
            if (auto open = open_.close(block))
                living.push_back({block, std::move(open->phase)});
        });
        show_in_order(living, "alive", std::nullopt);
    }

    StackReader& stacks() noexcept { return stacks_; }
    const MemoryReading& reading() const noexcept { return reading_; }
    std::uint32_t tid_of(const Block& block) const
    {
        return reading_.tables().thread(block.thread).tid;
    }

private:
    static constexpr double kFirstReadings = 0.4; // share of the time

    struct Open {
        Block block;
        std::string phase; // the block's own is known only while it lives
    };

    // A wrapper is known by all places that call it.
    void find_wrappers()
    {
        EachWatch<> nobody;
        MemoryReading first(file_, known_.last_ticks);
        first.read(nobody, [this](double part) { progress(kFirstReadings * part); });
        stacks_.find_wrappers(first.replay().sites().all());
    }

    std::string phase_of(const Block& block) const
    {
        std::string names;
        for (const std::string& name : reading_.replay().phases().path(block.phase))
            names += (names.empty() ? "" : "/") + name;
        return names;
    }

    void end(const Block& block, const char* how, std::uint64_t ticks)
    {
        if (const auto open = open_.close(block))
            show(block, open->phase, how, reading_.ns(ticks));
    }

    void show_in_order(std::vector<Open>& blocks, const char* how,
                       std::optional<std::uint64_t> until_ns)
    {
        std::sort(blocks.begin(), blocks.end(), [](const Open& one, const Open& other) {
            return std::tie(one.block.ticks, one.block.address) <
                   std::tie(other.block.ticks, other.block.address);
        });
        for (const Open& open : blocks)
            show(open.block, open.phase, how, until_ns);
    }

    StackReader stacks_;
    MemoryReading reading_;
    OpenBlocks<Open> open_;
};

} // namespace vramscope::report
