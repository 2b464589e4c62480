// report/words/mempool_words.cpp — the pool, its bytes, and where they were first taken.
#include "report/words/mempool_words.hpp"

#include <fmt/format.h>

#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

std::string kept_by(const Mempool& pool)
{
    constexpr std::size_t kPlaceColumns = 60;
    const Frame* const frame = pool.own_frame();
    return fmt::format("{} kept {} that nothing used{}",
                       pool.is_default() ? "the driver's default pool" : "a pool of the driver's",
                       human_bytes(pool.kept()),
                       frame ? ", first taken at " + frame_in(*frame, kPlaceColumns) : "");
}

std::string refused_though_free(const Shortage& shortage)
{
    return fmt::format("refused though {} were free: {}", human_bytes(shortage.free),
                       shortage.from_mempool
                           ? "why a pool of the driver's does so, only the driver knows"
                           : "in which pieces, only the driver knows");
}

std::string above_its_maximum(const Shortage& shortage)
{
    const Mempool* const pool = shortage.full_mempool();
    if (!pool && !shortage.setting.empty())
        return fmt::format("above the {} that {} allows, {} of which were reserved",
                           human_bytes(shortage.allowed), terminal_safe(shortage.setting),
                           human_bytes(shortage.reserved));
    return pool
               ? fmt::format("above the maximum of {} that a pool of the driver's has, {} of which "
                             "were in use",
                             human_bytes(pool->maximum), human_bytes(pool->used))
               : "above the maximum of a pool of the driver's";
}

} // namespace vramscope::report
