// report/words/row_words.hpp — rows that are shown below each other, told apart.
//
// A program with one function that allocates for all has one innermost frame in every row, which
// tells a reader nothing. Such rows show the first frame on the way out that the others have not;
// rows with one call stack show their devices, ranks or processes, where these differ. Names that
// differ in what is left out for want of room keep that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::report {

struct CallPlace;
struct Report;

struct ShownRow {
    const CallPlace* call;
    std::int32_t device = -1; // -1: not known
    std::size_t process = 0;  // index into Report::processes
};

// Rows that "... and 5 more" stands for are given too, up to this many: those that are shown must
// differ from them as well.
inline constexpr std::size_t kComparedRows = 100;

class RowHeadlines {
public:
    // What the rows point to, and the report, outlive this.
    RowHeadlines(const std::vector<ShownRow>& rows, const Report& report);

    // "load() train.cu:30 via allocate(), device 1" in at most `room` columns, of which names get
    // 20 at least; terminal_safe.
    std::string in(std::size_t row, std::size_t room) const;

private:
    struct Headline {
        const CallPlace* call;
        std::size_t frame = 0; // index into its stack
        std::string owner;     // ", device 1"
    };
    std::vector<Headline> headlines_;
};

} // namespace vramscope::report
