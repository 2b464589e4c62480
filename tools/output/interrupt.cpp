// tools/output/interrupt.cpp — a flag, and handlers that are gone once one of them set it.
#include "tools/output/interrupt.hpp"

namespace vramscope {
namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile std::sig_atomic_t flag = 0;
volatile std::sig_atomic_t caught[NSIG] = {}; // signals whose handler is ours
volatile std::sig_atomic_t repeat[NSIG] = {}; // signals whose next arrival means nothing

void handle(int number)
{
    if (repeat[number]) {
        repeat[number] = 0;
        return;
    }
    flag = 1;
    for (const int other : kEnding)
        if (caught[other])
            ::signal(other, SIG_DFL);
}

void catch_signal(int number)
{
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN)
        return;
    caught[number] = 1;
    struct sigaction ours {};
    ours.sa_handler = handle;
    ours.sa_flags = SA_RESTART;
    ::sigaction(number, &ours, nullptr);
}

} // namespace

Interrupt::Interrupt() : restores_(true)
{
    flag = 0;
    ::sigaction(SIGINT, nullptr, &before_);
    catch_signal(SIGINT);
}

Interrupt::Interrupt(const sigset_t& repeats)
{
    flag = 0;
    for (const int number : kEnding) {
        repeat[number] = ::sigismember(&repeats, number);
        catch_signal(number);
    }
}

Interrupt::~Interrupt()
{
    if (restores_ && !came()) // else it is the default's again already: the next one is not held up
        ::sigaction(SIGINT, &before_, nullptr);
}

bool Interrupt::came() noexcept
{
    return flag != 0;
}

} // namespace vramscope
