// tests/bench/pool/fragmentation_bench.cpp — peak reserved over peak requested.
//
// It prints a table of each workload and each set of rules, with the number of driver calls.
//
// "at once": every free is followed by a synchronisation, as if the program's work were never
// behind; the others' rules know no other case on one stream. Without it, the device is
// synchronised when the workload is, or when the pool waits itself.
#include <cstdio>
#include <functional>

#include "tests/bench/pool/allocators.hpp"
#include "tests/bench/pool/workloads.hpp"

using namespace vramscope;
using namespace vramscope::bench;

namespace {

struct Result {
    std::uint64_t reserved, calls;
};

template <class Allocator>
void play(const Workload& work, Allocator& allocator, bool at_once)
{
    std::vector<pool::Address> addresses(work.buffers());
    for (const Call& call : work.calls()) {
        switch (call.what) {
        case Call::allocate:
            addresses[call.id] = allocator.allocate(call.bytes);
            break;
        case Call::free:
            allocator.free(addresses[call.id]);
            if (at_once)
                allocator.synchronise();
            break;
        case Call::synchronise:
            allocator.synchronise();
            break;
        }
    }
}

template <class Allocator, class... Arguments>
Result peak_of(const Workload& work, bool at_once, const Arguments&... arguments)
{
    const auto upstream = std::make_unique<Counter>();
    const auto allocator = std::make_unique<Allocator>(*upstream, arguments...);
    play(work, *allocator, at_once);
    return {upstream->peak(), upstream->calls()};
}

std::uint64_t most_requested(const Workload& work)
{
    std::vector<std::uint64_t> sizes(work.buffers());
    std::uint64_t now = 0, most = 0;
    for (const Call& call : work.calls()) {
        if (call.what == Call::allocate) {
            now += sizes[call.id] = call.bytes;
            most = std::max(most, now);
        } else if (call.what == Call::free) {
            now -= sizes[call.id];
        }
    }
    return most;
}

struct Rules {
    const char* name;
    std::function<Result(const Workload&)> peak;
};

const pool::Options kMaxSplit{.max_split_bytes = 128 * kMiB};

// As a traced program has them: tracker/environment/settings.def.
const pool::Options kDefault{.max_cached_bytes = pool::kUpToPeak, .wait_from_bytes = 64 * kMiB};

const Rules kRules[] = {
    {"cache",
     [](const Workload& work) { return peak_of<Ours<pool::CachePolicy>>(work, false, kDefault); }},
    {"cache, all kept",
     [](const Workload& work) {
         return peak_of<Ours<pool::CachePolicy>>(work, false, pool::Options{});
     }},
    {"split",
     [](const Workload& work) { return peak_of<Ours<pool::SplitPolicy>>(work, false, kDefault); }},
    {"split, at once",
     [](const Workload& work) {
         return peak_of<Ours<pool::SplitPolicy>>(work, true, pool::Options{});
     }},
    {"PyTorch's rules",
     [](const Workload& work) {
         return peak_of<TorchRules<Counter>>(work, true, pool::Options{});
     }},
    {"split, max_split 128, at once",
     [](const Workload& work) { return peak_of<Ours<pool::SplitPolicy>>(work, true, kMaxSplit); }},
    {"PyTorch's, max_split 128",
     [](const Workload& work) { return peak_of<TorchRules<Counter>>(work, true, kMaxSplit); }},
    {"RMM's pool rules",
     [](const Workload& work) { return peak_of<RmmRules<Counter>>(work, true, std::uint64_t{0}); }},
};

} // namespace

int main()
{
    std::printf("| workload | buffers, peak MiB |");
    for (const Rules& rules : kRules)
        std::printf(" %s |", rules.name);
    std::printf("\n|---|---|");
    for (std::size_t count = 0; count < std::size(kRules); ++count)
        std::printf("---|");
    for (const Workload& work : all_workloads()) {
        const std::uint64_t most = most_requested(work);
        std::printf("\n| %s | %u, %llu |", work.name().c_str(), work.buffers(),
                    static_cast<unsigned long long>(most >> 20));
        for (const Rules& rules : kRules) {
            const Result result = rules.peak(work);
            std::printf(" %.3f (%llu) |",
                        static_cast<double>(result.reserved) / static_cast<double>(most),
                        static_cast<unsigned long long>(result.calls));
        }
    }
    std::printf("\n");
    return 0;
}
