// report/plan/replay/compare.cpp — without a limit first: that says which are searched.
#include "report/plan/replay/compare.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

namespace vramscope::report::plan {
namespace {

constexpr std::size_t kSearchedOfLong = 3;

std::vector<std::size_t> to_search(const Trace& trace, const std::vector<Compared>& compared)
{
    std::vector<std::size_t> indexes(compared.size());
    std::iota(indexes.begin(), indexes.end(), 0);
    if (trace.requests.size() < kSearchAllBelow || indexes.size() <= kSearchedOfLong)
        return indexes;
    std::stable_sort(indexes.begin() + 1, indexes.end(), [&](std::size_t a, std::size_t b) {
        return compared[a].unlimited.peak.reserved < compared[b].unlimited.peak.reserved;
    });
    indexes.resize(kSearchedOfLong);
    return indexes;
}

} // namespace

void side_by_side(std::size_t count, const std::function<void(std::size_t)>& work)
{
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    const auto run = [&] {
        for (std::size_t at = next++; at < count; at = next++) {
            try {
                work(at);
            } catch (...) {
                const std::lock_guard lock(mutex);
                error = std::current_exception();
            }
        }
    };
    std::vector<std::thread> threads;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    try {
        while (threads.size() + 1 < std::min(cores, count))
            threads.emplace_back(run);
    } catch (const std::system_error&) {
        // no more threads are to be had: those that there are do it
    }
    run();
    for (std::thread& thread : threads)
        thread.join();
    if (error)
        std::rethrow_exception(error);
}

std::vector<Compared> compare(const Trace& trace, const std::vector<PolicyRow>& policies,
                              const std::vector<std::uint64_t>& cards)
{
    std::vector<Compared> compared(policies.size());
    side_by_side(policies.size(),
                 [&](std::size_t at) { compared[at].unlimited = replay(trace, policies[at]); });
    const std::vector<std::size_t> searched = to_search(trace, compared);
    side_by_side(searched.size(), [&](std::size_t at) {
        Compared& row = compared[searched[at]];
        row.searched = true;
        row.smallest = smallest_card(trace, policies[searched[at]], row.unlimited);
    });
    for (Compared& row : compared)
        row.on_cards.resize(cards.size());
    side_by_side(policies.size() * cards.size(), [&](std::size_t at) {
        Compared& row = compared[at / cards.size()];
        row.on_cards[at % cards.size()] =
            replay(trace, policies[at / cards.size()], {.capacity = cards[at % cards.size()]});
    });
    return compared;
}

} // namespace vramscope::report::plan
