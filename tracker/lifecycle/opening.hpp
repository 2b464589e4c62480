// tracker/lifecycle/opening.hpp — the log of this process is made.
#pragma once

#include <unistd.h>

namespace vramscope::log {

// What a program closed of 0, 1 and 2 is taken while we open our own: it goes on writing to these
// numbers, and would write into the log.
class StandardDescriptors {
public:
    StandardDescriptors() noexcept;
    ~StandardDescriptors();
    StandardDescriptors(const StandardDescriptors&) = delete;
    StandardDescriptors& operator=(const StandardDescriptors&) = delete;

private:
    bool taken_[STDERR_FILENO + 1] = {};
};

// Makes the file that the settings name, fills its header, and chooses the clock. False, and said
// on stderr: it cannot be done.
bool open_log_file() noexcept;

} // namespace vramscope::log
