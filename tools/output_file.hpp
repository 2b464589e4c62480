// tools/output_file.hpp — what a command writes: to stdout, or to a file that appears whole or not
// at all.
//
// A regular file is written beside its place and then renamed. What is no regular file (/dev/null,
// a pipe) is written where it is. Every error is an Error (125) that names the file.
#pragma once

#include <string>
#include <string_view>

namespace vramscope {

class OutputFile {
public:
    explicit OutputFile(const std::string& destination); // "-": stdout
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile(); // without finish(): as if nothing had been written

    void write(std::string_view text);
    void finish();

private:
    void open_beside();
    [[noreturn]] void fail() const;

    std::string name_;      // as errors name it
    std::string path_;      // what the temporary file becomes
    std::string temporary_; // its name meanwhile, or at the end; empty: written in place
    bool nameless_ = false;
    int descriptor_ = -1;
};

} // namespace vramscope
