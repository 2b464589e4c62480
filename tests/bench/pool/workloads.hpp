// tests/bench/pool/workloads.hpp — made-up programs as lists of calls.
//
// Sizes and order are those of such programs, with fixed seeds. A step ends by synchronising.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace vramscope::bench {

struct Call {
    enum What : std::uint8_t { allocate, free, synchronise } what;
    std::uint32_t id = 0; // the buffer's number
    std::uint64_t bytes = 0;
};

class Workload {
public:
    explicit Workload(std::string name) : name_(std::move(name)) {}

    const std::string& name() const { return name_; }
    const std::vector<Call>& calls() const { return calls_; }
    std::uint32_t buffers() const { return buffers_; }

    std::uint32_t allocate(std::uint64_t bytes)
    {
        calls_.push_back({Call::allocate, buffers_, bytes});
        return buffers_++;
    }
    void free(std::uint32_t id) { calls_.push_back({Call::free, id}); }
    void step() { calls_.push_back({Call::synchronise}); }

private:
    std::string name_;
    std::vector<Call> calls_;
    std::uint32_t buffers_ = 0;
};

inline constexpr std::uint64_t kMiB = 1u << 20;

// Weights, gradients and moments stay; activations of the forward pass are freed backwards.
inline Workload transformer_training()
{
    Workload work("transformer training");
    constexpr std::uint64_t kHidden = 1024, kTokens = 2048, kLayers = 24, kVocabulary = 32'000;
    constexpr std::uint64_t kParts[] = {3 * kHidden * kHidden, kHidden * kHidden,
                                        4 * kHidden * kHidden, 4 * kHidden * kHidden, kHidden};
    for (int copies = 0; copies < 4; ++copies) {
        work.allocate(kVocabulary * kHidden * 2);
        for (std::uint64_t layer = 0; layer < kLayers; ++layer)
            for (const std::uint64_t part : kParts)
                work.allocate(part * 2);
    }
    for (int iteration = 0; iteration < 8; ++iteration) {
        std::vector<std::uint32_t> kept;
        for (std::uint64_t layer = 0; layer < kLayers; ++layer) {
            kept.push_back(work.allocate(kTokens * kHidden * 2));      // norm
            kept.push_back(work.allocate(kTokens * kHidden * 6));      // q, k, v
            const auto scores = work.allocate(16 * kTokens * 512 * 2); // used up at once
            kept.push_back(work.allocate(kTokens * kHidden * 2));      // attention
            work.free(scores);
            kept.push_back(work.allocate(kTokens * kHidden * 8)); // wide
            kept.push_back(work.allocate(kTokens * 16 * 4));      // statistics
        }
        const auto logits = work.allocate(kTokens * kVocabulary * 4);
        const auto loss = work.allocate(4);
        work.free(logits);
        for (auto at = kept.rbegin(); at != kept.rend(); ++at) {
            const auto gradient = work.allocate(kTokens * kHidden * 2);
            const auto workspace = work.allocate(kHidden * kHidden * 4);
            work.free(workspace);
            work.free(*at);
            work.free(gradient);
        }
        work.free(loss);
        work.step();
    }
    return work;
}

// Each request has another length: all its sizes differ.
inline Workload variable_length_inference()
{
    Workload work("variable length inference");
    std::mt19937_64 random(12);
    constexpr std::uint64_t kHidden = 1024, kLayers = 12;
    for (std::uint64_t layer = 0; layer < kLayers; ++layer)
        work.allocate(12 * kHidden * kHidden * 2);
    for (int request = 0; request < 48; ++request) {
        const std::uint64_t tokens = 64 + random() % 4000;
        std::vector<std::uint32_t> cache;
        auto hidden = work.allocate(tokens * kHidden * 2);
        for (std::uint64_t layer = 0; layer < kLayers; ++layer) {
            cache.push_back(work.allocate(tokens * kHidden * 4)); // keys and values stay
            const auto wide = work.allocate(tokens * kHidden * 8);
            const auto scores = work.allocate(tokens * tokens * 2);
            const auto next = work.allocate(tokens * kHidden * 2);
            work.free(scores);
            work.free(wide);
            work.free(hidden);
            hidden = next;
        }
        work.free(hidden);
        for (const auto id : cache)
            work.free(id);
        work.step();
    }
    return work;
}

// Sequences come, grow by being copied into more memory, and end, all at their own time.
inline Workload kv_cache_growth()
{
    Workload work("KV-cache growth");
    std::mt19937_64 random(5);
    struct Sequence {
        std::uint32_t id;
        std::uint64_t tokens, end;
    };
    constexpr std::uint64_t kPerToken = 2 * 2 * 1024 * 24 / 4;
    std::vector<Sequence> sequences;
    work.allocate(1500 * kMiB);
    for (int step = 0; step < 1500; ++step) {
        if (sequences.size() < 48 && random() % 3 != 0) {
            const std::uint64_t tokens = 16 + random() % 500;
            sequences.push_back(
                {work.allocate(tokens * kPerToken), tokens, tokens + 50 + random() % 1500});
        }
        for (std::size_t at = 0; at < sequences.size(); ++at) {
            Sequence& each = sequences[at];
            each.tokens += 1 + random() % 16;
            if (random() % 8 == 0) { // it is full
                const auto larger = work.allocate((each.tokens + 128) * kPerToken);
                work.free(each.id);
                each.id = larger;
            }
        }
        std::erase_if(sequences, [&](const Sequence& each) {
            if (each.tokens < each.end)
                return false;
            work.free(each.id);
            return true;
        });
        work.step();
    }
    return work;
}

// The generator of RMM's random_allocations benchmark: sizes are uniform, 73 % of calls allocate.
inline Workload rmm_random(std::uint64_t most_mib, std::size_t count)
{
    Workload work("RMM random, up to " + std::to_string(most_mib) + " MiB, " +
                  std::to_string(count));
    std::mt19937_64 random(1);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> live;
    std::uint64_t bytes = 0;
    std::size_t allocated = 0;
    while (allocated < count || !live.empty()) {
        const bool may = allocated < count && bytes < 16'000 * kMiB;
        if (may && (random() % 100 < 73 || live.empty())) {
            const std::uint64_t size = 1 + random() % (most_mib * kMiB);
            live.push_back({work.allocate(size), size});
            bytes += size;
            ++allocated;
        } else if (!live.empty()) {
            std::swap(live[random() % live.size()], live.back());
            work.free(live.back().first);
            bytes -= live.back().second;
            live.pop_back();
        }
        if (random() % 16 == 0)
            work.step();
    }
    return work;
}

// A convolutional network like AlexNet: few large buffers of many sizes, a workspace per
// convolution, and weights that are small beside them.
inline Workload alexnet_training()
{
    Workload work("AlexNet's shape");
    struct Layer {
        std::uint64_t outputs, weights, workspace; // floats per image; floats; floats
    };
    constexpr Layer kLayers[] = {{64 * 55 * 55, 64 * 363, 30'000'000},
                                 {64 * 27 * 27, 0, 0},
                                 {192 * 27 * 27, 192 * 1600, 25'000'000},
                                 {192 * 13 * 13, 0, 0},
                                 {384 * 13 * 13, 384 * 1728, 12'000'000},
                                 {256 * 13 * 13, 256 * 3456, 16'000'000},
                                 {256 * 13 * 13, 256 * 2304, 9'000'000},
                                 {256 * 6 * 6, 0, 0},
                                 {4096, 4096 * 9216, 0},
                                 {4096, 4096 * 4096, 0},
                                 {1000, 4096 * 1000, 0}};
    constexpr std::uint64_t kImages = 256;
    for (const Layer& layer : kLayers)
        if (layer.weights) {
            work.allocate(layer.weights * 4);
            work.allocate(layer.weights * 4); // momentum
        }
    for (int iteration = 0; iteration < 4; ++iteration) {
        std::vector<std::uint32_t> outputs{work.allocate(kImages * 3 * 224 * 224 * 4)};
        std::vector<std::uint32_t> gradients;
        for (const Layer& layer : kLayers) {
            outputs.push_back(work.allocate(kImages * layer.outputs * 4));
            if (layer.workspace)
                work.free(work.allocate(layer.workspace * 4));
        }
        auto gradient = work.allocate(kImages * 1000 * 4);
        for (std::size_t at = std::size(kLayers); at-- > 0;) {
            if (kLayers[at].weights)
                gradients.push_back(work.allocate(kLayers[at].weights * 4));
            const auto below =
                work.allocate(kImages * (at ? kLayers[at - 1].outputs : 3 * 224 * 224) * 4);
            if (kLayers[at].workspace)
                work.free(work.allocate(kLayers[at].workspace * 4 / 2 * 3));
            work.free(gradient);
            work.free(outputs.back());
            outputs.pop_back();
            gradient = below;
        }
        work.free(gradient);
        work.free(outputs.back());
        for (const auto id : gradients)
            work.free(id);
        work.step();
    }
    return work;
}

inline std::vector<Workload> all_workloads()
{
    return {transformer_training(), variable_length_inference(), kv_cache_growth(),
            rmm_random(64, 1000),   rmm_random(4, 2000),         alexnet_training()};
}

} // namespace vramscope::bench
