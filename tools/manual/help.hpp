// tools/manual/help.hpp — what --help and --help-all print.
//
// Texts are filled to the width; lines that are indented stand as they are, but for what is said
// behind two blanks or more, which goes on below its beginning.
#pragma once

#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>

namespace vramscope::manual {

// Whether --help leaves something out, which --help-all has then.
bool has_more(const CLI::App& command);

class HelpFormatter : public CLI::FormatterBase {
public:
    explicit HelpFormatter(std::size_t width) : width_(width) {} // in columns
    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override;

private:
    std::size_t width_;
};

} // namespace vramscope::manual
