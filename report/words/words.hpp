// report/words/words.hpp — numbers and names as a person reads them in a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::report {

std::string human_bytes(std::uint64_t bytes); // "512 B", "64 KiB", "3.1 MiB"
// The beginning of a text that is longer than so many columns, and "...".
std::string cut_at_end(std::string_view text, std::size_t width);
// "no device has 16 EiB, which is -384 KiB as a signed number"
std::string impossible_size(std::uint64_t bytes);
std::string grouped(std::uint64_t number);                        // "1,204"
std::string counted(std::uint64_t number, std::string_view noun); // "1 block", "1,204 blocks"
// "64 KiB", "2 tries of 64 KiB", "3 tries of 4 KiB to 1 MiB"; "2 tries" of an unknown size.
std::string tries_of(std::uint64_t tries, std::uint64_t least_bytes, std::uint64_t most_bytes);
std::string human_time(std::uint64_t ns); // "850 us", "12.3 ms", "1.204 s"
std::string rough_time(std::uint64_t ns); // "1 s" at least, "45 min", "3.5 h", "12 days"

// tracker/format/terminal_text.hpp as a string. Everything that comes from a log, a binary or a
// command line goes through this on its way to a terminal.
std::string terminal_safe(std::string_view text);

// The same as a cell of comma-separated values, in quotes where it needs them.
std::string csv_text(std::string_view text);

// Characters, not bytes; of text that is terminal_safe.
std::size_t columns(std::string_view text) noexcept;

// At most `width` columns: first the parameters, then the template arguments become "...", then the
// end is cut.
std::string shorten_function(std::string_view name, std::size_t width);
// The same beside other names: where it would then read like one of them, the part is kept in which
// they differ: "Tensor<...float>::Te...".
std::string shorten_function(std::string_view name, const std::vector<std::string>& beside,
                             std::size_t width);

// At most `width` columns: the first folders become "...".
std::string shorten_path(std::string_view path, std::size_t width);

// "00ff" for two bytes.
std::string hex_digits(std::string_view bytes);

// As a shell takes it for one word.
std::string shell_quoted(std::string_view text);

} // namespace vramscope::report
