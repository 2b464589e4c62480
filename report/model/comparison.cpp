// report/model/comparison.cpp — the words of the JSON.
#include "report/model/comparison.hpp"

namespace vramscope::report {

const char* name(Change change) noexcept
{
    switch (change) {
    case Change::added:
        return "new";
    case Change::grown:
        return "grown";
    case Change::shrunk:
        return "shrunk";
    case Change::gone:
        return "gone";
    case Change::same:
        break;
    }
    return "same";
}

const char* name(Comparison::Verdict verdict) noexcept
{
    switch (verdict) {
    case Comparison::Verdict::same:
        return "same";
    case Comparison::Verdict::better:
        return "better";
    case Comparison::Verdict::worse:
        return "worse";
    case Comparison::Verdict::nothing_observed:
        return "nothing-observed";
    case Comparison::Verdict::inconclusive:
        break;
    }
    return "inconclusive";
}

} // namespace vramscope::report
