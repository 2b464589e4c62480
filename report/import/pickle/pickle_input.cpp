// report/import/pickle/pickle_input.cpp — the window moves on when less is left than is asked for.
#include "report/import/pickle/pickle_input.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/file_bytes.hpp"

namespace vramscope::report {

constexpr std::size_t kPickleWindow = 256 * 1024;

PickleInput::PickleInput(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)), file_bytes_(bytes_of_file(descriptor))
{
}

void PickleInput::fail(const std::string& what) const
{
    throw Error(Exit::bad_input, fmt::format("{}: at byte {}: {}", name_, offset(), what));
}

std::string_view PickleInput::bytes(std::uint64_t count)
{
    if (count > window_.size() - at_) {
        const std::size_t left = window_.size() - at_;
        if (count - left > file_bytes_ - std::min(offset_, file_bytes_))
            fail("it ends in the middle: the file is cut");
        window_.erase(0, at_);
        at_ = 0;
        window_.resize(std::max<std::size_t>(count, kPickleWindow));
        const std::size_t got =
            read_file(descriptor_, offset_, window_.data() + left, window_.size() - left);
        window_.resize(left + got);
        offset_ += got;
        if (window_.size() < count)
            fail("it ends in the middle: the file is cut");
    }
    at_ += count;
    return std::string_view(window_).substr(at_ - count, count);
}

std::uint64_t PickleInput::number(std::size_t count)
{
    const std::string_view read = bytes(count);
    std::uint64_t value = 0;
    for (std::size_t at = count; at > 0; --at)
        value = value << 8 | static_cast<std::uint8_t>(read[at - 1]);
    return value;
}

} // namespace vramscope::report
