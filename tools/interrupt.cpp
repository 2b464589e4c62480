// tools/interrupt.cpp — a flag, and a handler that is gone once it ran.
#include "tools/interrupt.hpp"

namespace vramscope {
namespace {

volatile std::sig_atomic_t flag = 0;

} // namespace

Interrupt::Interrupt()
{
    flag = 0;
    ::sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN)
        return;
    struct sigaction caught {};
    caught.sa_handler = [](int) { flag = 1; };
    caught.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(SIGINT, &caught, nullptr);
}

Interrupt::~Interrupt()
{
    if (!came()) // else it is the default's again already: a second Ctrl-C is not held up
        ::sigaction(SIGINT, &before_, nullptr);
}

bool Interrupt::came() noexcept
{
    return flag != 0;
}

} // namespace vramscope
