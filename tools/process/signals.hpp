// tools/process/signals.hpp — the signals of processes that stand beside a traced program.
#pragma once

#include <csignal>

namespace vramscope {

// What a terminal or a supervisor sends to the whole group is for the program: a process that ends
// with the command that started it ignores it.
inline void ignore_what_is_for_the_program()
{
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP})
        ::signal(number, SIG_IGN);
}

} // namespace vramscope
