// report/text/growth.hpp — memory that grows, for a person at a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/text/output.hpp"

namespace vramscope::report {

struct Leak;
struct Report;

// "growing by 64 KiB per step, 99.9 % sure", "start-up", "once", …
std::string class_words(const Leak& leak);
// … in a word, for a narrow column; empty: there is nothing to say.
std::string class_word(const Leak& leak);

// "6.2 MiB growing, 11.4 MiB from start-up"; empty where no part of what leaked is either.
std::string leaked_parts(const Report& report);

// The leaks of functions that have several call stacks, a line for each function.
void write_sums(TextOutput& out, const Report& report, std::string_view prefix, std::size_t most);

// All that grows, a line each. Where nothing does, nothing.
void write_growth(TextOutput& out, const Report& report);
// What `vramscope run` says of growth that is no leak.
void write_growth_summary(TextOutput& out, const Report& report, std::string_view prefix);

} // namespace vramscope::report
