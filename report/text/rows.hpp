// report/text/rows.hpp — which rows of a list of call stacks are printed, and in which order.
//
// Verdict and sums are those of all rows, whatever is chosen, and a list says what it left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/model/churn.hpp"
#include "report/model/growth.hpp"
#include "report/model/leaks.hpp"
#include "report/model/memory/memory.hpp"
#include "report/model/ranks.hpp"
#include "report/text/views.hpp"

namespace vramscope::report {

// What rows are chosen and ordered by.
struct RowNumbers {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    double growth = 0; // bytes per second
    std::uint64_t first_ns = 0;
};
RowNumbers numbers_of(const Leak& row);
RowNumbers numbers_of(const Growth& row);
RowNumbers numbers_of(const PeakStack& row);
RowNumbers numbers_of(const ChurnSite& row);
RowNumbers numbers_of(const SharedLeak& row);

bool comes_before(const RowNumbers& one, const RowNumbers& other, RowOrder order);

std::string rest_in_words(bool any_shown, std::uint64_t more, std::uint64_t bytes);

template <typename Row>
struct ChosenRows {
    std::vector<const Row*> rows;
    std::size_t shown = 0;  // so many of them, the first
    std::uint64_t more = 0; // rows that are not, and those that were not chosen
    std::uint64_t more_bytes = 0;

    ChosenRows(std::vector<const Row*> chosen, std::size_t most, const std::vector<Row>& all)
        : rows(std::move(chosen)), shown(std::min(rows.size(), most)), more(all.size() - shown)
    {
        for (const Row& row : all)
            more_bytes += numbers_of(row).bytes;
        for (std::size_t at = 0; at < shown; ++at)
            more_bytes -= numbers_of(*rows[at]).bytes;
    }
    // "... and 25 more call stacks, 3.1 MiB"; empty: all are shown.
    std::string rest() const { return rest_in_words(shown > 0, more, more_bytes); }
};

// `usual`: how many are shown where no number was asked for. `call_of`: where a row has its stack.
template <typename Row, typename CallOf = std::identity>
ChosenRows<Row> choose(const std::vector<Row>& rows, const RowChoice& choice,
                       std::size_t usual = SIZE_MAX, CallOf call_of = {})
{
    std::vector<const Row*> chosen;
    for (const Row& row : rows)
        if (numbers_of(row).bytes >= choice.least_bytes &&
            (!choice.matches || choice.matches(call_of(row))))
            chosen.push_back(&row);
    if (choice.order != RowOrder::as_found)
        std::stable_sort(chosen.begin(), chosen.end(), [&](const Row* one, const Row* other) {
            return comes_before(numbers_of(*one), numbers_of(*other), choice.order);
        });
    return {std::move(chosen), choice.most.value_or(usual), rows};
}

} // namespace vramscope::report
