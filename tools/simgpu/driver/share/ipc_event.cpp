// tools/simgpu/driver/share/ipc_event.cpp — events between processes, through /proc/PID/fd.
#include "tools/simgpu/driver/share/ipc_event.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/share/share.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {

struct SharedEvent::Page {
    std::atomic<std::uint64_t> recorded;
    std::atomic<std::uint64_t> reached;
    std::atomic<std::int32_t> recorder; // the process of the newest record
};

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::chrono::microseconds kLookAgain{100};
constexpr std::uint64_t kEventMagic = 0x746e65766d6973; // "simvent"

struct EventHandle {
    std::uint64_t magic;
    std::int32_t process;
    std::int32_t file;
};
static_assert(sizeof(EventHandle) <= sizeof(CUipcEventHandle));

// A process that has ended has no program any more, even while its parent has not waited for it.
bool has_ended(int process)
{
    char path[64];
    char program[8];
    std::snprintf(path, sizeof path, "/proc/%d/exe", process);
    return readlink(path, program, sizeof program) < 0 && (errno == ENOENT || errno == ESRCH);
}

} // namespace

std::shared_ptr<SharedEvent> SharedEvent::map(int file)
{
    void* const page = file < 0
                           ? MAP_FAILED
                           : mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED)
        return std::shared_ptr<SharedEvent>(new SharedEvent(file, static_cast<Page*>(page)));
    if (file >= 0)
        ::close(file);
    return nullptr;
}

std::shared_ptr<SharedEvent> SharedEvent::make()
{
    return map(make_event_file(kPageBytes));
}

std::shared_ptr<SharedEvent> SharedEvent::open(int file)
{
    if (is_event_file(file))
        return map(file);
    ::close(file);
    return nullptr;
}

SharedEvent::~SharedEvent()
{
    munmap(page_, kPageBytes);
    ::close(file_);
}

std::uint64_t SharedEvent::record()
{
    page_->recorder.store(getpid());
    return page_->recorded.fetch_add(1) + 1;
}

void SharedEvent::reach(std::uint64_t ticket)
{
    std::uint64_t before = page_->reached.load();
    while (before < ticket && !page_->reached.compare_exchange_weak(before, ticket))
        ;
}

std::uint64_t SharedEvent::newest() const
{
    return page_->recorded.load();
}

bool SharedEvent::reached(std::uint64_t ticket) const
{
    return page_->reached.load() >= ticket || has_ended(page_->recorder.load());
}

void SharedEvent::wait(std::uint64_t ticket) const
{
    while (!reached(ticket))
        std::this_thread::sleep_for(kLookAgain);
}

namespace api {

CUresult cuIpcGetEventHandle(Context&, CUipcEventHandle* pHandle, CUevent event)
{
    const Event* const found = slots<Event>().find(event);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!pHandle || !found->shared) // made without CU_EVENT_INTERPROCESS
        return CUDA_ERROR_INVALID_VALUE;
    const EventHandle handle{kEventMagic, getpid(), found->shared->file()};
    std::memset(pHandle, 0, sizeof *pHandle);
    std::memcpy(pHandle, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(Context& context, CUevent* phEvent, CUipcEventHandle handle)
{
    EventHandle wanted{};
    std::memcpy(&wanted, &handle, sizeof wanted);
    if (!phEvent || wanted.magic != kEventMagic)
        return CUDA_ERROR_INVALID_VALUE;
    if (wanted.process == getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", wanted.process, wanted.file);
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    auto shared = file < 0 ? nullptr : SharedEvent::open(file);
    if (!shared)
        return CUDA_ERROR_INVALID_VALUE;
    *phEvent = reinterpret_cast<CUevent>(
        open_event(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, std::move(shared)));
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
