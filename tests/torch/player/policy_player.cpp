// tests/torch/player/policy_player.cpp — plays requests from its input through a policy.
//
// policy_player POLICY [CAPACITY TOTAL] reads lines of words and answers each request with a line:
//   segment ADDRESS BYTES STREAM POOL SMALL, live BLOCK OFFSET BYTES: what was there at the start
//   at ADDRESS: the next address that the device gives out
//   alloc BLOCK BYTES STREAM POOL, free BLOCK, later BLOCK, ready BLOCK, sync, empty: requests
// An answer is +ADDRESS,BYTES or -ADDRESS,BYTES for each call of the device, then the block's
// address (0: none, or out of memory), what is allocated, and what is reserved.
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>

#include "report/plan/policies/torch.hpp"
#include "report/plan/replay/replay.hpp"

namespace {

using namespace vramscope::report::plan;

struct Input {
    Trace trace;
    std::deque<std::uint64_t> addresses;

    void read(std::istream& lines);

private:
    void read_line(const std::string& word, std::istream& words);
};

void Input::read(std::istream& lines)
{
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        read_line(word, words);
    }
}

void Input::read_line(const std::string& word, std::istream& words)
{
    static const std::map<std::string, Action> kActions{
        {"alloc", Action::allocate}, {"free", Action::free},        {"later", Action::free_later},
        {"ready", Action::ready},    {"sync", Action::synchronise}, {"empty", Action::empty_cache}};
    std::uint64_t numbers[5] = {};
    for (std::uint64_t& number : numbers)
        words >> number;
    if (word == "at") {
        addresses.push_back(numbers[0]);
    } else if (word == "segment") {
        trace.at_start.push_back({.address = numbers[0],
                                  .bytes = numbers[1],
                                  .stream = static_cast<std::uint16_t>(numbers[2]),
                                  .pool = static_cast<std::uint8_t>(numbers[3]),
                                  .small = numbers[4] != 0,
                                  .blocks = {}});
    } else if (word == "live") {
        trace.at_start.back().blocks.push_back(
            {.block = static_cast<BlockId>(numbers[0]), .offset = numbers[1], .bytes = numbers[2]});
    } else {
        Request request{.block = static_cast<BlockId>(numbers[0]), .action = kActions.at(word)};
        if (request.action == Action::allocate) {
            request.bytes = numbers[1];
            request.stream = static_cast<std::uint16_t>(numbers[2]);
            request.pool = static_cast<std::uint8_t>(numbers[3]);
        }
        trace.requests.push_back(request);
    }
}

int play(const char* name, std::uint64_t capacity, std::uint64_t total)
{
    Input input;
    input.read(std::cin);
    CountedDevice device(capacity, total);
    const auto policy = policy_of(name).make(device);
    std::string calls;
    device.on_call = [&](bool taken, std::uint64_t address, std::uint64_t bytes) {
        calls += (taken ? "+" : "-") + std::to_string(address) + "," + std::to_string(bytes) + " ";
    };
    device.next_address = [&](std::uint64_t bytes) {
        if (input.addresses.empty())
            return device.reserve(bytes);
        const std::uint64_t address = input.addresses.front();
        input.addresses.pop_front();
        return address;
    };
    const auto* const torch = dynamic_cast<const TorchPolicy*>(policy.get());
    std::uint64_t shortages = 0;
    const Step step = [&](std::size_t at, const Policy& played, const CountedDevice& on,
                          const Outcome& outcome) {
        const bool is_block =
            input.trace.requests[at].action == Action::allocate && outcome.shortages == shortages;
        shortages = outcome.shortages;
        std::printf("%s%llu %llu %llu\n", calls.c_str(),
                    static_cast<unsigned long long>(
                        is_block ? played.address(input.trace.requests[at].block) : 0),
                    static_cast<unsigned long long>(played.allocated()),
                    static_cast<unsigned long long>(on.reserved()));
        calls.clear();
        if (const char* const wrong = torch && at % 64 == 0 ? torch->validate() : nullptr)
            throw std::runtime_error(wrong);
    };
    replay(input.trace, *policy, device, false, step);
    return 0;
}

} // namespace

int main(int count, char** words)
{
    if (count < 2) {
        std::fputs("usage: policy_player POLICY [CAPACITY TOTAL]\n", stderr);
        return 2;
    }
    try {
        const bool limited = count > 3;
        return play(words[1], limited ? std::stoull(words[2]) : CountedDevice::kNoLimit,
                    limited ? std::stoull(words[3]) : CountedDevice::kNoLimit);
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "policy_player: %s\n", wrong.what());
        return 1;
    }
}
