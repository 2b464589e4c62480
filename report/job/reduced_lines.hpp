// report/job/reduced_lines.hpp — the lines of a reduced table, one after the other; nothing is
// believed. Whoever reads them says what becomes of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/exporters/reduced.hpp"
#include "report/json/write.hpp"
#include "report/model/call_place.hpp"

namespace vramscope::report {

inline constexpr std::string_view kReducedHead = R"({"type":"reduced","version":)";

// 0, "" and nothing for what is no such value.
std::uint64_t number_in(const Json& value);
std::optional<std::uint32_t> small_number_in(const Json& value);
std::string text_in(const Json& value);
std::vector<std::string> texts_in(const Json& list);
const Json& member_of(const Json& line, std::string_view name); // null: it is not there

// A line of rows, by the names of its columns.
class Rows {
public:
    explicit Rows(const Json& line);

    const Json& all() const { return member_of(line_, "rows"); }
    const Json& in(const Json& row, std::string_view column) const; // null: the row has none

private:
    const Json& line_;
    std::map<std::string, std::size_t, std::less<>> columns_;
};

// A frame, and the one that called it.
struct ReducedFrame {
    static constexpr std::size_t kNone = SIZE_MAX;
    std::size_t caller = kNone; // a smaller index
    Frame frame;
};

class ReducedLines {
public:
    virtual ~ReducedLines() = default;

    // Error (bad_input), with the line, for what is no reduced table, one of another version, or
    // one that was cut.
    void read(std::istream& in);
    const ReducedCounts& counts() const noexcept { return counts_; } // of what was read

protected:
    explicit ReducedLines(std::string name) : name_(std::move(name)) {}

    // The frames are still those of the process before.
    virtual void process(const Json& line) = 0;
    virtual void device(const Json&) {}
    virtual void timeline(const Rows&) {}
    virtual void sites(const Rows& rows) = 0;
    // Each line of a process as it is, once it was understood.
    virtual void taken(const std::string&) {}

    // Of the process that was begun last. Error: there is none, or more text is named than can be.
    std::string text_of(const Json& number);
    std::size_t frame_in(const Json& number) const;  // its index; kNone for null
    std::string next_fingerprint(const Json& value); // of each site, in their order
    std::vector<ReducedFrame>& frames() noexcept { return frames_; }
    const std::vector<ReducedFrame>& frames() const noexcept { return frames_; }

private:
    [[noreturn]] void refuse(const std::string& why) const;
    void take(const std::string& text);
    void check_head(const std::string& text) const;
    void take_line_of_process(const std::string& type, const Json& line);
    void check_end(const Json& line) const;
    void add_texts(const Rows& rows);
    void add_frames(const Rows& rows);
    ReducedFrame frame_of(const Rows& rows, const Json& row);
    std::string named(const std::string& text);

    std::string name_;
    std::size_t line_ = 0;
    bool any_process_ = false;
    bool ended_ = false;
    ReducedCounts counts_;
    std::vector<std::string> texts_;
    std::vector<ReducedFrame> frames_;
    std::vector<std::size_t> same_; // of each site: the first one that has its fingerprint
    std::unordered_map<std::size_t, std::string> fingerprints_; // of those first ones
    std::size_t named_bytes_ = 0;                               // of texts, each as often as named
};

} // namespace vramscope::report
