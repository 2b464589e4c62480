// report/replay/span_lives.hpp — in which span of time the blocks of each site came, and left.
//
// Of each site there are sums of the blocks that were born in one span and left in another, or are
// alive. So of any run of spans it is known exactly what came in it and outlived it, what left in
// it, and what was alive at its end.
//
// Spans have numbers from 1 on that only grow. Of two neighbours that become one, the later number
// is left: a number that is gone means the next one that is not.
#pragma once

#include <cstdint>
#include <vector>

#include "report/model/memory/span_life.hpp"
#include "report/replay/heap/site_vector.hpp"

namespace vramscope::report {

class SpanLives {
public:
    struct Span {
        std::uint32_t before = 0; // number of the span before it; 0: it is the first
        std::uint32_t number = 0;
    };

    void prefetch(SiteId site) const noexcept { sites_.prefetch(site); }
    void born(SiteId site, Span span, std::uint64_t bytes);
    // What it has before anything else is told; its span's number is 1.
    void begin_with(SiteId site, std::uint64_t blocks, std::uint64_t bytes);
    // `now`: the number of the last span.
    void left(SiteId site, Span born, std::uint32_t now, std::uint64_t bytes);
    void all_left(SiteId site, std::uint32_t now);

    std::size_t sums() const noexcept { return sums_; } // that are kept
    // Sites whose sums should be put together, since there are many; each is told of once.
    std::vector<SiteId>& grown() noexcept { return grown_; }
    // Puts sums of spans that became one together. `numbers`: the spans that are left, in order.
    void join(SiteId site, const std::vector<std::uint32_t>& numbers);
    // Spans are indices into `numbers`. By the span in which they left, the alive last.
    std::vector<SpanLife> of(SiteId site, const std::vector<std::uint32_t>& numbers) const;

private:
    static constexpr std::size_t kMany = 256;
    struct Lives {
        std::vector<SpanLife> alive; // by the span of their birth
        std::vector<SpanLife> gone;  // those that left in the last span come last
        std::size_t many = kMany;    // then they should be put together
    };

    SpanLife& alive_of(std::vector<SpanLife>& alive, Span span);

    SiteVector<Lives> sites_;
    std::vector<SiteId> grown_;
    std::size_t sums_ = 0;
};

} // namespace vramscope::report
