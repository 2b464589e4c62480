// interpose/serve/contexts/synchronisation.cpp — the process's contexts, and waiting for them all.
#include "interpose/serve/contexts/synchronisation.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <mutex>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/hooks/current_context.hpp"
#include "interpose/hooks/inside_driver.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

struct Domain {
    CUcontext context; // null: the slot is free
    int number;        // its number in Epochs; -1: there was no room, and nothing is ever reusable
};

constexpr std::size_t kMaxDomains = 64;

constinit capture::Lock lock;
constinit Domain domains[kMaxDomains]{};
constinit pool::Epochs the_epochs;

// Each side announces itself before it looks at the other (both sequentially consistent).
constinit std::atomic<int> running{0}; // synchronisations of ours
constinit std::atomic<int> held{0};

Domain* find(CUcontext context) noexcept
{
    for (Domain& domain : domains)
        if (domain.context == context)
            return &domain;
    return nullptr;
}

// What was freed before `before` may be handed out again.
void record_reusable(log::Thread& thread, std::uint64_t before, bool own) noexcept
{
    const std::uint64_t ticks = log::now();
    log::write(thread, {ticks}, format::Reusable{ticks - before, own});
}

std::size_t copy_domains(Domain (&out)[kMaxDomains]) noexcept
{
    const std::lock_guard guard(lock);
    std::size_t count = 0;
    for (const Domain& domain : domains)
        if (domain.context)
            out[count++] = domain;
    return count;
}

CUresult synchronise(const Driver& driver, CUcontext context, CUcontext current) noexcept
{
    if (context == current && driver.synchronise)
        return driver.synchronise();
    if (driver.synchronise_context)
        return driver.synchronise_context(context);
    if (!driver.synchronise)
        return CUDA_ERROR_NOT_SUPPORTED;
    const ContextMadeCurrent made(&driver, context);
    return made.result() == CUDA_SUCCESS ? driver.synchronise() : made.result();
}

class Running {
public:
    Running() noexcept
    {
        running.fetch_add(1);
        may_run_ = held.load() == 0;
    }
    ~Running() { running.fetch_sub(1); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    explicit operator bool() const noexcept { return may_run_; }

private:
    bool may_run_;
};

} // namespace

pool::Epochs& epochs() noexcept
{
    return the_epochs;
}

void context_seen(CUcontext context) noexcept
{
    const std::lock_guard guard(lock);
    if (find(context))
        return;
    const int number = the_epochs.add_domain();
    if (Domain* free = find(nullptr)) // else its domain is never told, and nothing is reusable
        *free = {context, number};
}

void context_unseen(CUcontext context) noexcept
{
    const std::lock_guard guard(lock);
    Domain* domain = context ? find(context) : nullptr;
    if (!domain)
        return;
    if (domain->number >= 0)
        the_epochs.remove_domain(domain->number);
    *domain = {};
}

Synchronisation synchronisation_begins(CUcontext context) noexcept
{
    return {the_epochs.begin(), log::now(), context};
}

void synchronisation_ended(log::Thread& thread, const Synchronisation& synchronisation) noexcept
{
    bool advanced = false;
    {
        const std::lock_guard guard(lock);
        if (const Domain* domain = find(synchronisation.context); domain && domain->number >= 0)
            advanced = the_epochs.ended(domain->number, synchronisation.epoch);
    }
    if (advanced)
        record_reusable(thread, synchronisation.ticks, false);
}

CUresult synchronise_all(log::Thread& thread) noexcept
{
    const Driver* driver = Driver::find();
    const Running running_now;
    if (!driver || !driver->context || !running_now)
        return CUDA_SUCCESS;
    CUcontext current = nullptr;
    driver->context(&current);
    Domain all[kMaxDomains];
    const std::size_t count = copy_domains(all);
    const std::uint64_t ticks = log::now();
    const std::uint64_t epoch = the_epochs.begin();
    bool advanced = false;
    CUresult answer = CUDA_SUCCESS;
    for (std::size_t i = 0; i < count; ++i) {
        const Domain& domain = all[i];
        const CUresult result = timed_in_driver(thread, Hook::cuCtxSynchronize, [&] {
            return synchronise(*driver, domain.context, current);
        });
        if (result == CUDA_SUCCESS && domain.number >= 0)
            advanced = the_epochs.ended(domain.number, epoch) || advanced;
        else if (domain.context == current)
            answer = result;
    }
    if (advanced)
        record_reusable(thread, ticks, true);
    return answer;
}

void hold_synchronisations() noexcept
{
    held.fetch_add(1);
    // Bounded: what ours waits for might in turn wait for the caller.
    for (int i = 0; running.load() != 0 && i < 100'000; ++i)
        sleep_ns(50'000);
}

void sleep_ns(long ns) noexcept
{
    const timespec length{0, ns};
    ::syscall(SYS_nanosleep, &length, nullptr);
}

void readmit_synchronisations() noexcept
{
    held.fetch_sub(1);
}

bool synchronisations_held() noexcept
{
    return held.load() != 0;
}

void forget_synchronisations() noexcept
{
    std::fill(std::begin(domains), std::end(domains), Domain{});
    new (&the_epochs) pool::Epochs;
    running.store(0);
    held.store(0);
}

} // namespace vramscope::hooks
