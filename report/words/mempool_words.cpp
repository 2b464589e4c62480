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

} // namespace vramscope::report
