// report/text/output.hpp — lines as wide as the terminal, coloured if it likes.
//
// Texts that come from programs are to be made safe (words.hpp) before they get here.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/report.hpp"
#include "report/text/views.hpp"

namespace vramscope::report {

// For TextOutput::painted(): what a verdict is.
inline constexpr const char* kRed = "31";    // bad
inline constexpr const char* kGreen = "32";  // good
inline constexpr const char* kYellow = "33"; // not known

class TextOutput {
public:
    TextOutput(std::ostream& out, const TextStyle& style);

    std::string painted(std::string_view text, const char* color) const;
    // `text` over as many lines as it takes, each with the prefix and indented under its beginning.
    void wrapped(std::string_view prefix, std::string_view head, std::string_view text);
    void field(std::string_view name, std::string_view value);
    // Two columns: functions, and where. The places get what they need, up to a half.
    void frames(const std::vector<Frame>& stack);

    // What remains of a line that has so many columns: 20 at least.
    std::size_t room_behind(std::size_t taken) const;
    // A line that ends with the call's innermost frame.
    void line(std::string_view head, const CallPlace& call);

    // The frames of a call, and where some are missing, why.
    void stack(const CallPlace& call);

    std::ostream& stream() const { return out_; }
    const TextStyle& style() const { return style_; }
    std::size_t width() const { return width_; } // in columns

protected:
    std::ostream& out_;
    const TextStyle& style_;
    std::size_t width_;
};

} // namespace vramscope::report
