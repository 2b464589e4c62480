// tests/bench/plan_bench.cpp — how many requests a second each policy of `vramscope plan` answers.
//
// plan_bench [REQUESTS [POLICY...]]: 10 million by default, of two made-up programs. In the first a
// few thousand blocks of random sizes come and go on two streams, so that free lists are long; in
// the second the same sizes come again and again, as in a training's steps.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "report/plan/replay/replay.hpp"

namespace {

using namespace vramscope::report::plan;

class Program {
public:
    Trace trace;

    void allocate(std::uint64_t bytes, unsigned stream)
    {
        const auto block = static_cast<BlockId>(trace.sites.size());
        trace.requests.push_back(
            {.bytes = bytes, .block = block, .stream = static_cast<std::uint16_t>(stream)});
        trace.sites.push_back(0);
        live_.push_back({block, stream});
    }
    void free(std::size_t at)
    {
        trace.requests.push_back({.block = live_[at].block,
                                  .stream = static_cast<std::uint16_t>(live_[at].stream),
                                  .action = Action::free});
        live_[at] = live_.back();
        live_.pop_back();
    }
    void synchronise() { trace.requests.push_back({.action = Action::synchronise}); }
    std::size_t live() const { return live_.size(); }

private:
    struct Block {
        BlockId block;
        unsigned stream;
    };
    std::vector<Block> live_;
};

Trace random_sizes(std::size_t count)
{
    auto random = [engine = std::mt19937(1)]() mutable { return static_cast<unsigned>(engine()); };
    Program program;
    while (program.trace.requests.size() < count) {
        if (program.live() > 4000 + random() % 2000)
            program.free(random() % program.live());
        else
            program.allocate(1 + (random() & ((1u << random() % 24) - 1)), random() % 2);
        if (program.trace.requests.size() % 5000 == 0)
            program.synchronise();
    }
    return std::move(program.trace);
}

Trace training(std::size_t count)
{
    Program program;
    while (program.trace.requests.size() < count) {
        for (std::uint64_t layer = 0; layer < 500; ++layer)
            program.allocate((1 + layer % 7) * 300'000 + layer % 3 * 512, 0);
        while (program.live() > 0)
            program.free(program.live() - 1);
        program.synchronise();
    }
    return std::move(program.trace);
}

// The processor's time, as other programs may run.
double seconds(const Trace& trace, const PolicyRow& row)
{
    const std::clock_t begin = std::clock();
    replay(trace, row);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

} // namespace

int main(int count, char** words)
{
    const std::size_t requests = count > 1 ? std::strtoull(words[1], nullptr, 10) : 10'000'000;
    const Trace traces[] = {random_sizes(requests), training(requests)};
    std::vector<PolicyRow> rows;
    for (int word = 2; word < count; ++word)
        rows.push_back(policy_of(words[word]));
    std::printf("%-66s %14s %14s\n", "million requests a second", "random sizes", "training");
    for (const PolicyRow& row : rows.empty() ? usual_policies() : rows) {
        std::printf("%-66s", row.name.c_str());
        for (const Trace& trace : traces)
            std::printf(" %14.2f",
                        static_cast<double>(trace.requests.size()) / 1e6 / seconds(trace, row));
        std::printf("\n");
    }
}
