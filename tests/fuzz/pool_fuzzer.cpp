// tests/fuzz/pool_fuzzer.cpp — any bytes are calls that a pool must survive.
//
// What the model demands holds after each call, and everything can be given back at the end.
// The entry point is libFuzzer's; the corpus is for the driver beside it.
#include <cstdint>
#include <random>

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/split_policy.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/interpose/pool/checked_pool.hpp"

using namespace vramscope;

namespace {

// Eight bytes make a number; after the end there are zeros.
class Numbers {
public:
    Numbers(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

    bool empty() const { return at_ == end_; }
    std::uint64_t next(int bytes)
    {
        std::uint64_t number = 0;
        for (int count = 0; count < bytes; ++count)
            number = number << 8 | (empty() ? 0 : *at_++);
        return number;
    }

private:
    const std::uint8_t *at_, *end_;
};

pool::Options options_from(Numbers& numbers)
{
    const std::uint64_t chosen = numbers.next(1);
    pool::Options options;
    if (chosen & 1)
        options.max_split_bytes = 20u << 20;
    if (chosen & 2)
        options.roundup_power2_divisions.fill(8);
    if (chosen & 4)
        options.max_cached_bytes = 4u << 20;
    if (chosen & 8) {
        options.allowed_bytes = 200u << 20;
        options.garbage_collection_threshold = 0.3;
    }
    if (chosen & 16)
        options.wait_from_bytes = 8u << 20;
    return options;
}

template <class U, class Policy>
void play(Numbers numbers)
{
    test::CheckedPool<U, Policy> checked(options_from(numbers));
    for (int call = 0; !numbers.empty() && call < 2000; ++call)
        checked.step([&] { return numbers.next(2); });
    checked.finish();
}

} // namespace

const FuzzTarget fuzz_target = {"pool_fuzzer", 1}; // which pool

std::vector<std::vector<std::uint8_t>> fuzz_corpus()
{
    std::vector<std::vector<std::uint8_t>> corpus;
    std::mt19937 random(1);
    for (const std::size_t size : {200u, 1000u, 3000u}) {
        std::vector<std::uint8_t> bytes(size);
        for (auto& each : bytes)
            each = static_cast<std::uint8_t>(random());
        corpus.push_back(bytes);
    }
    for (std::uint8_t which = 0; which < 4; ++which) {
        corpus.push_back(corpus[1]);
        corpus.back()[0] = which;
    }
    return corpus;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Numbers numbers(data, size);
    switch (numbers.next(1) % 4) {
    case 0:
        play<test::CounterUpstream, pool::CachePolicy>(numbers);
        break;
    case 1:
        play<test::CounterUpstream, pool::SplitPolicy>(numbers);
        break;
    case 2:
        play<test::ScatteredUpstream, pool::CachePolicy>(numbers);
        break;
    default:
        play<test::ScatteredUpstream, pool::SplitPolicy>(numbers);
        break;
    }
    return 0;
}
