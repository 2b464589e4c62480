// report/text/live_lines.hpp — the parts of which both looks at running programs are made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/text/live.hpp"

namespace vramscope::report {

class LiveLines {
public:
    explicit LiveLines(const LiveStyle& style);

    // Sums, rates, devices and findings of a program.
    void add_head(const LiveProgram& program);
    // A program as a row of a table, and the table's first line.
    void add_table_head();
    void add_row(const LiveProgram& program, bool chosen = false);

    void line(std::string_view text); // as much of it as there is room for
    void bold(std::string_view text);
    void reversed(std::string_view text); // over the whole width; without colour as it is
    std::size_t width() const noexcept { return width_; }
    std::size_t room_behind(std::string_view text) const; // in columns; 20 at least
    std::size_t size() const noexcept { return lines_.size(); }
    std::vector<std::string> take() { return std::move(lines_); }

private:
    void add_device(const LiveDevice& device);
    void add_pool(const LiveDevice& device);

    const LiveStyle& style_;
    std::size_t width_;
    std::vector<std::string> lines_;
};

} // namespace vramscope::report
