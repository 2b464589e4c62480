// report/rules/rule_watch.cpp — each event against each rule.
#include "report/rules/rule_watch.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace vramscope::report {
namespace {

// A node of a graph that allocates is no memory yet: its launches are. A rule speaks of it that
// names its kind, or captures, which make it.
bool is_given_memory(const Rule& rule, format::Memory memory) noexcept
{
    return is_own_memory(memory) ||
           (class_of(memory) == format::MemoryClass::graph &&
            std::ranges::any_of(rule.all_of, [](const Condition& condition) {
                return condition.kind == ConditionKind::capture ||
                       (condition.kind == ConditionKind::memory && !condition.negated);
            }));
}

} // namespace

RuleWatch::RuleWatch(const Rules& rules, const LogTables& tables, const Sites& sites,
                     StackReader& stacks)
    : rules_(rules), tables_(tables), sites_(sites), facts_(stacks), states_(rules.rules.size())
{
    for (std::size_t rule = 0; rule < rules.rules.size(); ++rule) {
        const std::vector<Condition>& all = rules.rules[rule].all_of;
        states_[rule].met.resize(all.size());
        for (const Condition& condition : all)
            if (has_pattern(condition.kind))
                patterns_[&condition] = steps_.watch(condition.text);
    }
}

void RuleWatch::before(const Record& record)
{
    record_ = &record;
    from_driver_.note(record);
    if (is_hot(record.tag))
        return;
    steps_.apply(record);
    apply_context(record);
}

// Contexts are told by records of their own: most are opened without an allocation.
void RuleWatch::apply_context(const Record& record)
{
    constexpr std::size_t kMostContexts = 10'000;
    if (const auto defined = record.as<format::Context>()) {
        if (devices_.size() < kMostContexts)
            devices_[defined->id] = static_cast<std::int32_t>(defined->device);
    } else if (const auto opened = record.as<format::ContextOpened>()) {
        const auto device = devices_.find(opened->context);
        born_as({{opened->stack, opened->api, record.ticks,
                  device == devices_.end() ? -1 : device->second, format::Memory::context},
                 0,
                 record.thread},
                key_of_context(opened->context), 0, false);
    } else if (const auto gone = record.as<format::ContextGone>()) {
        leave(key_of_context(gone->context));
    }
}

void RuleWatch::take_sums(const Contexts& contexts)
{
    Limited unused;
    for (const Site& site : sites_.all()) {
        if (site.memory == format::Memory::context)
            continue;
        const BlockCall call{site.stack, site.api, site.first_ticks, site.device, site.memory};
        forbid({call, site.allocated_bytes, 0, site.allocations});
        limit({call, site.live_bytes, 0, site.live_blocks}, unused);
    }
    for (const auto& [id, context] : contexts.all()) {
        if (!context.opened)
            continue;
        const LoggedCall& opened = context.opened->call;
        forbid({{opened.stack, opened.api, opened.ticks, static_cast<std::int32_t>(context.device),
                 format::Memory::context},
                0,
                context.opened->thread});
    }
}

RuleWatch::BlockKey RuleWatch::key_of_context(std::uint64_t id)
{
    return {id, 0, static_cast<std::uint64_t>(format::Memory::context)};
}

void RuleWatch::born(const Block& block)
{
    if (block.memory == format::Memory::context)
        return;
    born_as({{block.stack, block.api, block.ticks, block.device, block.memory},
             block.bytes,
             block.thread},
            key_of(block), block.context, block.mortal);
}

void RuleWatch::born_as(const Event& event, const BlockKey& key, std::uint32_t context, bool mortal)
{
    forbid(event);
    Limited limited{
        .bytes = event.bytes, .stack = event.call.stack, .context = context, .mortal = mortal};
    limit(event, limited);
    if (limited.rules.any())
        blocks_[key] = limited;
}

// The call that frees it has a stack and a thread of its own.
void RuleWatch::freed(const Block& block, std::uint64_t ticks)
{
    if (is_own_memory(block.memory)) {
        const bool own = record_ && record_->tag == format::Tag::free;
        const Event event{
            {own ? record_->stack : 0, own ? record_->api : 0, ticks, block.device, block.memory},
            block.bytes,
            own ? record_->thread : block.thread,
            1,
            BlockCall{block.stack, block.api, block.ticks, block.device, block.memory}};
        happen_to_all(RuleEvent::free, event);
    }
    leave(key_of(block));
}

// A refused call does not say for which device it was.
void RuleWatch::misused(const LoggedMisuse& misuse, std::uint32_t thread, std::uint64_t calls)
{
    const LoggedCall& call = misuse.call;
    happen_to_all(
        RuleEvent::misuse,
        {{call.stack, call.api, call.ticks, -1, misuse.memory}, misuse.bytes, thread, calls});
}

void RuleWatch::happen_to_all(RuleEvent wanted, const Event& event)
{
    for (std::size_t rule = 0; rule < states_.size(); ++rule)
        if (rules_.rules[rule].forbidden == wanted)
            happen(rule, true, event);
}

void RuleWatch::gone(const Block& block, std::uint64_t)
{
    leave(key_of(block));
}

void RuleWatch::context_gone(std::span<const SiteLoss> losses, std::uint64_t)
{
    std::set<std::uint32_t> contexts;
    for (const SiteLoss& loss : losses)
        contexts.insert(sites_[loss.site].context);
    for (auto at = blocks_.begin(); at != blocks_.end();) {
        if (at->second.mortal && contexts.contains(at->second.context)) {
            leave(at->second);
            at = blocks_.erase(at);
        } else {
            ++at;
        }
    }
}

bool RuleWatch::is_event(const Rule& rule, format::Memory memory) const
{
    switch (*rule.forbidden) {
    case RuleEvent::alloc:
        return is_given_memory(rule, memory);
    case RuleEvent::driver_alloc:
        return from_driver_.last() && memory != format::Memory::suballocated &&
               (is_given_memory(rule, memory) || class_of(memory) == format::MemoryClass::reserved);
    case RuleEvent::context:
        return memory == format::Memory::context;
    case RuleEvent::graph:
        return memory == format::Memory::graph_exec;
    case RuleEvent::stream:
        return memory == format::Memory::stream;
    case RuleEvent::event:
        return memory == format::Memory::event;
    case RuleEvent::module:
        return memory == format::Memory::module;
    case RuleEvent::library:
        return memory == format::Memory::library;
    case RuleEvent::free:
    case RuleEvent::misuse:
        break;
    }
    return false;
}

void RuleWatch::happen(std::size_t rule, bool is_its_event, const Event& event)
{
    State& state = states_[rule];
    const bool met = meets(rule, event);
    if (!is_its_event)
        return;
    state.blind = state.blind || event.call.memory == format::Memory::suballocated;
    if (!met)
        return;
    state.measured += event.count;
    add(state.calls, event);
}

void RuleWatch::forbid(const Event& event)
{
    for (std::size_t rule = 0; rule < states_.size(); ++rule)
        if (rules_.rules[rule].forbidden)
            happen(rule, is_event(rules_.rules[rule], event.call.memory), event);
}

// A block that is alive counts for each limit whose conditions its birth met.
void RuleWatch::limit(const Event& event, Limited& limited)
{
    const bool own = is_own_memory(event.call.memory);
    for (std::size_t number = 0; number < states_.size(); ++number) {
        const Rule& rule = rules_.rules[number];
        if (rule.forbidden || !meets(number, event) ||
            !(rule.counted ? *rule.counted == event.call.memory : own) || event.count == 0)
            continue;
        limited.rules.set(number);
        State& state = states_[number];
        add(state.calls, event);
        state.live += rule.quantity == RuleQuantity::count_live ? event.count : event.bytes;
        state.is_most = state.is_most || state.live > state.measured;
        state.measured = std::max(state.measured, state.live);
    }
}

void RuleWatch::State::keep_the_most()
{
    if (!std::exchange(is_most, false))
        return;
    at_most.clear();
    for (const auto& [stack, sum] : calls)
        at_most.push_back(sum);
}

RuleWatch::BlockKey RuleWatch::key_of(const Block& block)
{
    return {block.address, block.ticks, static_cast<std::uint64_t>(block.memory)};
}

void RuleWatch::leave(const BlockKey& key)
{
    const auto known = blocks_.find(key);
    if (known == blocks_.end())
        return;
    leave(known->second);
    blocks_.erase(known);
}

void RuleWatch::leave(const Limited& block)
{
    for (std::size_t number = 0; number < states_.size(); ++number) {
        if (!block.rules[number])
            continue;
        State& state = states_[number];
        if (state.measured > rules_.rules[number].limit)
            state.keep_the_most();
        state.live -= rules_.rules[number].quantity == RuleQuantity::count_live ? 1 : block.bytes;
        const auto sum = state.calls.find(block.stack);
        sum->second.bytes -= block.bytes;
        if (--sum->second.count == 0)
            state.calls.erase(sum);
    }
}

void RuleWatch::add(Sums& sums, const Event& event)
{
    Sum& sum = sums.try_emplace(event.call.stack, Sum{event.call, 0, 0}).first->second;
    sum.bytes += event.bytes;
    sum.count += event.count;
}

// Each condition is asked until it was met once: one that never was is told.
bool RuleWatch::meets(std::size_t rule, const Event& event)
{
    bool all = true;
    State& state = states_[rule];
    const std::vector<Condition>& conditions = rules_.rules[rule].all_of;
    for (std::size_t at = 0; at < conditions.size(); ++at) {
        if (!all && state.met[at])
            continue;
        const bool met = meets(conditions[at], event);
        state.met[at] = state.met[at] || met;
        all = all && met != conditions[at].negated;
    }
    return all;
}

bool RuleWatch::meets(const Condition& condition, const Event& event)
{
    switch (condition.kind) {
    case ConditionKind::range:
        return steps_.is_open(patterns_.at(&condition), event.thread);
    case ConditionKind::first:
        return steps_.ended(patterns_.at(&condition)) >= condition.number;
    case ConditionKind::after_mark:
        return steps_.marks(patterns_.at(&condition)) > 0;
    case ConditionKind::until_mark:
        return steps_.marks(patterns_.at(&condition)) == 0;
    case ConditionKind::capture:
        return record_ && record_->place.capturing;
    case ConditionKind::thread:
        return thread_matches(condition, event.thread);
    case ConditionKind::owner:
        return owner_of(rules_.owners, facts_, event.allocated.value_or(event.call)) ==
               condition.text;
    case ConditionKind::memory:
    case ConditionKind::device:
    case ConditionKind::module:
    case ConditionKind::stack:
    case ConditionKind::file:
        break;
    }
    return facts_.meets(condition, event.call);
}

bool RuleWatch::thread_matches(const Condition& condition, std::uint32_t thread)
{
    const auto [answer, is_new] = threads_.try_emplace({&condition, thread}, false);
    if (is_new)
        answer->second = glob_matches(condition.text, tables_.thread(thread).name);
    return answer->second;
}

} // namespace vramscope::report
