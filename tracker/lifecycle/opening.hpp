// tracker/lifecycle/opening.hpp — the log of this process is made.
#pragma once

#include <unistd.h>

namespace vramscope::log {

// If the program closed descriptors 0, 1 or 2, they are kept taken while we open ours: a program
// goes on writing to these numbers, and would write into the log.
class StandardDescriptors {
public:
    StandardDescriptors() noexcept;
    ~StandardDescriptors();
    StandardDescriptors(const StandardDescriptors&) = delete;
    StandardDescriptors& operator=(const StandardDescriptors&) = delete;

private:
    bool taken_[STDERR_FILENO + 1] = {};
};

// Makes the file that the settings name, fills its header, and chooses the clock. False, with a
// line on stderr: it cannot be done.
bool open_log_file() noexcept;

} // namespace vramscope::log
