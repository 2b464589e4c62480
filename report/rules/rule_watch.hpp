// report/rules/rule_watch.hpp — holds each rule against what happens in a log.
//
// Memory grows with live blocks that a limit speaks of, stacks and threads.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/model/rules.hpp"
#include "report/replay/contexts.hpp"
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/from_driver.hpp"
#include "report/replay/misuse.hpp"
#include "report/rules/named_steps.hpp"
#include "report/rules/owners.hpp"

namespace vramscope::report {

class RuleWatch final : public BlockWatch {
public:
    // All outlive this. `sites`: those of the HeapReplay; `stacks` gives all frames.
    RuleWatch(const Rules& rules, const LogTables& tables, const Sites& sites, StackReader& stacks);

    // To be given each record of the log, before the replay has it.
    void before(const Record& record);
    // So many wrong frees, of which this was the first.
    void misused(const LoggedMisuse& misuse, std::uint32_t thread, std::uint64_t calls);

    // In place of all records: what the sites and contexts of the whole log say of each call place.
    // For rules that need no more: see is_told_by_sums().
    void take_sums(const Contexts& contexts);

    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block& block, std::uint64_t ticks) override;
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

    std::vector<RuleOutcome> outcomes(StackReader& shown);

private:
    struct Event {
        BlockCall call;
        std::uint64_t bytes = 0;
        std::uint32_t thread = 0;
        std::uint64_t count = 1; // several of one call place
        // Of a free: what allocated the block, which is its owner's.
        std::optional<BlockCall> allocated = {};
    };
    struct Sum {
        BlockCall call; // the first of them
        std::uint64_t bytes = 0;
        std::uint64_t count = 0;
    };
    using Sums = std::unordered_map<std::uint64_t, Sum>; // by stack
    struct State {
        std::uint64_t measured = 0; // events; the most, or what there is, of what is limited
        std::uint64_t live = 0;
        Sums calls;               // who broke it; or all that is alive
        std::vector<Sum> at_most; // who had it when it was the most
        bool is_most = false;     // it is now, and at_most is of a moment before
        std::vector<bool> met;    // each condition, once at least
        bool blind = false;       // one does not say whether its stream was captured

        void keep_the_most(); // before it becomes less, and at the end
    };
    struct Limited { // a block that limits speak of
        std::bitset<kMostRules> rules{};
        std::uint64_t bytes = 0;
        std::uint64_t stack = 0;
        std::uint32_t context = 0;
        bool mortal = false;
    };
    using BlockKey = std::array<std::uint64_t, 3>; // address, birth, kind

    bool meets(std::size_t rule, const Event& event);
    bool meets(const Condition& condition, const Event& event);
    bool thread_matches(const Condition& condition, std::uint32_t thread);
    void apply_context(const Record& record);
    void born_as(const Event& event, const BlockKey& key, std::uint32_t context, bool mortal);
    bool is_event(const Rule& rule, format::Memory memory) const;
    void happen(std::size_t rule, bool is_its_event, const Event& event);
    void happen_to_all(RuleEvent wanted, const Event& event);
    void forbid(const Event& event);
    void limit(const Event& event, Limited& limited);
    static void add(Sums& sums, const Event& event);
    static BlockKey key_of(const Block& block);
    static BlockKey key_of_context(std::uint64_t id);
    void leave(const BlockKey& key);
    void leave(const Limited& block);
    std::string why_never(std::size_t rule) const;
    bool may_be_a_slip(const Condition& condition) const;
    static std::vector<RuleCall> calls_of(std::vector<Sum>& sums, bool by_bytes,
                                          StackReader& shown);

    const Rules& rules_;
    const LogTables& tables_;
    const Sites& sites_;
    CallFacts facts_;
    NamedSteps steps_;
    FromDriver from_driver_;
    const Record* record_ = nullptr; // that the replay has now
    std::vector<State> states_;
    std::map<BlockKey, Limited> blocks_;
    std::map<const Condition*, NamedSteps::Pattern> patterns_;
    std::unordered_map<std::uint64_t, std::int32_t> devices_; // of contexts, by their ids
    std::map<std::pair<const Condition*, std::uint32_t>, bool> threads_;
};

} // namespace vramscope::report
