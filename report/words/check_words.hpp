// report/words/check_words.hpp — the lines of a budget as a person reads them.
#pragma once

#include <cstddef>
#include <string>

#include "report/model/check.hpp"

namespace vramscope::report {

struct Process;
struct Report;
struct TestRow;

// Where both round to one text, exact bytes.
std::string measured_words(const CheckRow& row); // "1.5 GiB"
std::string limit_words(const CheckRow& row);    // "at most 8 GiB", "none allowed"
std::string row_words(const CheckRow& row);      // "leaked 2 MiB, at most 0 B"
// "leaked 2 MiB, at most 0 B", "did not end"
std::string test_words(const TestCheck& row, const TestRow& test);
std::string process_name(const Report&, std::size_t index);             // "rank 1", "process 1234"
std::string process_name(const Report& report, const Process& process); // one of the report's

// " in rank 1, rank 3": where it failed; nothing, if there is one process.
std::string failed_where(const CheckRow& row, const Report& report);

} // namespace vramscope::report
