// tests/report/words/shortage_words_test.cpp — the cause of running out of memory, as one is told it.
#include "report/words/shortage_words.hpp"

#include <gtest/gtest.h>

#include "report/model/shortages.hpp"
#include "tests/support/sizes.hpp"

namespace vramscope::report {
namespace {

using test::operator""_GiB;
using test::operator""_MiB;

Leak held_by(const char* function, std::uint64_t bytes)
{
    Leak row;
    row.stack = {{.function = function, .file = {}, .module = "/x/app"}};
    row.bytes = bytes;
    return row;
}

// 1 GiB was wanted, and is free in two pieces.
Shortage in_pieces(std::uint64_t total)
{
    Shortage shortage;
    shortage.kind = ShortageKind::fragmented;
    shortage.requested = 1_GiB;
    shortage.pooled = shortage.owners_known = true;
    shortage.total = shortage.reserved = total;
    shortage.allocated = total - 1_GiB - 2_MiB;
    shortage.largest_gap = 600_MiB;
    shortage.free_pieces = 2;
    shortage.apart.emplace().stack = held_by("between", 0).stack;
    shortage.owners = {held_by("leaks", shortage.allocated)};
    return shortage;
}

TEST(CauseOf, PiecesAreToldByWhatHoldsThemApart)
{
    EXPECT_EQ(cause_of(in_pieces(8_GiB)),
              "1 GiB were free in 2 pieces, the largest 600 MiB; between [app] holds them apart");
}

TEST(CauseOf, DeviceThatIsNearlyFullIsToldByWhatFillsIt)
{
    EXPECT_EQ(
        cause_of(in_pieces(64_GiB)),
        "1 GiB were free in 2 pieces, the largest 600 MiB; leaks [app] held the most, 63 GiB");
}

} // namespace
} // namespace vramscope::report
