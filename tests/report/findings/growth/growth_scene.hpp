// tests/report/findings/growth/growth_scene.hpp — logs of programs whose growth is known.
//
// Addresses are handed out as an allocator would: what was freed comes again. Calls are at stacks 1
// to 9 of tests/support/report_of.hpp.
#pragma once

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "report/model/report.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::test {

using Addresses = std::vector<std::uint64_t>;

// What grows is at the first of these stacks, what does not at the second.
inline constexpr std::uint64_t kLeak = 1;
inline constexpr std::uint64_t kOther = 2;

class GrowthScene {
public:
    GrowthScene() { log.place({.context = 1, .device = 0}); }

    std::uint64_t take(std::uint64_t stack, std::uint64_t bytes = 1_MiB)
    {
        std::uint64_t address = next_ += 0x1000;
        if (!freed_.empty()) {
            address = freed_.front();
            freed_.pop_front();
            next_ -= 0x1000;
        }
        log.alloc(address, bytes, stack);
        return address;
    }
    void give(std::uint64_t address)
    {
        log.free(address);
        freed_.push_back(address);
    }
    void give(std::vector<std::uint64_t>& addresses)
    {
        for (const std::uint64_t address : addresses)
            give(address);
        addresses.clear();
    }
    void flash(std::uint64_t stack, std::uint64_t bytes = 1_MiB) { give(take(stack, bytes)); }
    // A block that stays, among temporaries of the same place.
    void leak_among(std::size_t temporaries, std::uint64_t stack, std::uint64_t bytes)
    {
        std::vector<std::uint64_t> addresses;
        for (; temporaries > 0; --temporaries)
            addresses.push_back(take(stack, 4_KiB * (1 + below(100))));
        take(stack, bytes);
        give(addresses);
    }
    // One turn of a queue that grows or shrinks as it happens, up to 60 blocks.
    void wander(std::uint64_t stack, std::mt19937_64& random)
    {
        if (queue_.empty() || (random() % 2 == 0 && queue_.size() < 60)) {
            queue_.push_back(take(stack));
        } else {
            give(queue_.front());
            queue_.pop_front();
        }
    }
    // So many turns of a loop that works and leaks.
    void leak_in_turns(int turns)
    {
        for (int turn = 0; turn < turns; ++turn) {
            flash(kOther);
            take(kLeak);
        }
    }
    void sleep(std::uint64_t ns) { log.at(log.now() + ns); }
    std::size_t below(std::size_t bound) { return random_() % bound; }

    template <typename Body>
    void steps(std::size_t count, Body body, const std::string& name = "step")
    {
        for (std::size_t step = 0; step < count; ++step) {
            log.push(name);
            body(step);
            log.pop();
        }
    }

    LogBuilder log = program_with_stacks();

private:
    std::uint64_t next_ = 0x10000;
    std::deque<std::uint64_t> freed_;
    std::deque<std::uint64_t> queue_;
    std::mt19937_64 random_{42}; // NOLINT: the same in every run
};

inline std::uint64_t stack_of(const report::CallPlace& place)
{
    return place.stack.empty() ? 0 : place.stack.front().offset / 0x1000;
}

// The class of the leak at a stack, or "none".
inline std::string class_at(const report::Report& report, std::uint64_t stack)
{
    std::string found;
    for (const report::Leak& leak : report.leaks)
        if (stack_of(leak) == stack)
            found += (found.empty() ? "" : " ") + std::string(name(leak.leak_class));
    return found.empty() ? "none" : found;
}

inline const report::Growth* growth_at(const report::Report& report, std::uint64_t stack)
{
    for (const report::Growth& growth : report.growth)
        if (stack_of(growth) == stack)
            return &growth;
    return nullptr;
}

} // namespace vramscope::test
