// report/import/pickle/pickle_input.hpp — a file read in order, through a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::report {

// What is not there, or cannot be read, is an Error (bad_input) that names the file and the byte.
class PickleInput {
public:
    PickleInput(int descriptor, std::string name);

    std::uint64_t offset() const noexcept { return offset_ - window_.size() + at_; }
    std::uint64_t file_bytes() const noexcept { return file_bytes_; }
    std::uint8_t byte() { return static_cast<std::uint8_t>(bytes(1)[0]); }
    std::uint64_t number(std::size_t bytes);     // little-endian, of up to 8 bytes
    std::string_view bytes(std::uint64_t count); // valid until the next call
    [[noreturn]] void fail(const std::string& what) const;

private:
    int descriptor_;
    std::string name_;
    std::uint64_t file_bytes_;
    std::uint64_t offset_ = 0; // in the file, of the window's end
    std::size_t at_ = 0;
    std::string window_;
};

} // namespace vramscope::report
