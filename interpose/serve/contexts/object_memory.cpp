// interpose/serve/contexts/object_memory.cpp — counts the makings, to see two at the same time.
#include "interpose/serve/contexts/object_memory.hpp"

#include <atomic>

namespace vramscope::hooks {
namespace {

constinit std::atomic<std::uint64_t> begun{0};
constinit std::atomic<std::uint64_t> over{0};

} // namespace

void ObjectMemory::before() noexcept
{
    number_ = begun.fetch_add(1) + 1;
    if (over.load() + 1 != number_ || !may_ask_often())
        return;
    before_ = ask_free_memory();
    if (before_.total != 0)
        ticks_ = log::now();
}

void ObjectMemory::after(Call& call, std::uint64_t handle) noexcept
{
    if (before_.total == 0 || begun.load() != number_)
        return;
    const std::int64_t device = place_now(call).device;
    const FreeMemory now = ask_free_memory();
    if (device < 0 || now.total != before_.total)
        return;
    const std::uint64_t ticks = log::now();
    log::write(call.thread, {ticks},
               format::ObjectMemory{call.api(), handle, device, ticks - ticks_, before_.free,
                                    now.free, now.total});
}

ObjectMemory::~ObjectMemory()
{
    if (number_ != 0)
        over.fetch_add(1);
}

} // namespace vramscope::hooks
