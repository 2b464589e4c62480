// report/log/named_log.hpp — a log with its frames' names in it, for where its program is not.
//
// It has the bytes of the log, with a header that counts more chunks, and after them these chunks:
// for each address of a stack what the symbolizer knows of it (FrameName), so that no reader looks
// for the file. What the log names already stays. Nothing is written about files that are not here:
// a reader says so, or has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/log/log_file.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

class NamedLog {
public:
    // Error (bad_input): the log is cut, so that nothing can be put after its end. `log` must
    // outlive this.
    NamedLog(const LogFile& log, Symbolizer& symbolizer);

    std::size_t named() const noexcept { return named_; } // addresses that got names
    std::uint64_t bytes() const noexcept;

    // As LogFile::read_at.
    std::size_t read_at(std::uint64_t offset, void* out, std::size_t bytes) const;

private:
    const LogFile& log_;
    format::FileHeader header_;
    std::uint64_t added_at_;
    std::string added_; // whole chunks
    std::size_t named_ = 0;
};

} // namespace vramscope::report
