// tools/simgpu/driver/base/entry.cpp — armed faults, the call trace, and the C API that sets them.
//
// Faults and trace are read from VRAMSCOPE_SIM_FAULTS and VRAMSCOPE_SIM_TRACE when the library is
// loaded, so calls before cuInit count too. All state is leaked, because destructors of the program
// call in after ours would have run.
#include "tools/simgpu/driver/base/entry.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/simgpu.h"

namespace simgpu {

std::atomic<bool> watched{false};
std::atomic<bool> initialised{false};
constinit thread_local bool default_stream_is_per_thread = false;
constinit thread_local const char* running_entry = nullptr;

namespace {

struct Fault {
    Entry* entry;
    std::uint64_t call; // the number of the call; 0 means every call
    CUresult result;
};

struct Watch {
    std::mutex mutex;
    std::vector<Fault> faults;
    int trace_fd = -1;
    std::atomic<simgpu_observer> observer{nullptr};
};

Watch& watch()
{
    static auto* state = new Watch;
    return *state;
}

void update_watched(const Watch& state)
{
    watched.store(!state.faults.empty() || state.trace_fd >= 0 || state.observer.load(),
                  std::memory_order_relaxed);
}

bool arm(const char* name, std::uint64_t nth, int code)
{
    Entry* entry = find_entry(name);
    if (!entry)
        return false;
    Watch& state = watch();
    const std::lock_guard lock(state.mutex);
    const std::uint64_t call = nth == 0 ? 0 : entry->calls.load() + nth;
    state.faults.push_back({entry, call, static_cast<CUresult>(code)});
    update_watched(state);
    return true;
}

[[gnu::constructor]] void read_environment()
{
    // A child of fork must not find the lock held by a thread that it does not have.
    pthread_atfork([] { watch().mutex.lock(); }, [] { watch().mutex.unlock(); },
                   [] { watch().mutex.unlock(); });
    for (const FaultSetting& fault : fault_settings()) {
        if (!arm(fault.name.c_str(), fault.nth, fault.code))
            complain("VRAMSCOPE_SIM_FAULTS: no entry point is called '%s'", fault.name.c_str());
    }
    const char* path = trace_path();
    if (!path)
        return;
    Watch& state = watch();
    state.trace_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (state.trace_fd < 0)
        complain("VRAMSCOPE_SIM_TRACE: cannot write %s: %s", path, std::strerror(errno));
    update_watched(state);
}

// Each line is one write, so that lines of several processes do not mix. A full disk loses trace
// lines and nothing else.
void write_trace(const char* line, int length)
{
    [[maybe_unused]] const auto written =
        write(watch().trace_fd, line, static_cast<std::size_t>(length));
}

} // namespace

Entry* find_entry(const char* name)
{
    if (!name)
        return nullptr;
    Entry* const end = entries + entry_count;
    Entry* const found =
        std::lower_bound(entries, end, name, [](const Entry& entry, const char* wanted) {
            return std::strcmp(entry.name, wanted) < 0;
        });
    return found != end && std::strcmp(found->name, name) == 0 ? found : nullptr;
}

CUresult not_simulated(Entry& entry)
{
    if (!entry.complained.exchange(true))
        std::fprintf(stderr, "simgpu: %s is not simulated; it answers CUDA_ERROR_NOT_SUPPORTED\n",
                     entry.name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult injected_fault(Entry& entry)
{
    Watch& state = watch();
    const std::lock_guard lock(state.mutex);
    for (const Fault& fault : state.faults)
        if (fault.entry == &entry && (fault.call == 0 || fault.call == entry.calls.load()))
            return fault.result;
    return CUDA_SUCCESS;
}

void trace(const Entry& entry, CUresult result)
{
    if (const simgpu_observer observer = watch().observer.load())
        observer(entry.name, static_cast<int>(result));
    if (watch().trace_fd < 0)
        return;
    char line[160];
    write_trace(line,
                std::snprintf(line, sizeof line, "%s=%d\n", entry.name, static_cast<int>(result)));
}

void trace_look_up(const char* name, int version, std::uint64_t flags)
{
    if (!watched.load(std::memory_order_relaxed) || watch().trace_fd < 0)
        return;
    char line[160];
    write_trace(line, std::snprintf(line, sizeof line, "asked %.100s %d %llu\n", name, version,
                                    static_cast<unsigned long long>(flags)));
}

} // namespace simgpu

extern "C" {

SIMGPU_EXPORT const char* simgpu_version(void)
{
    static const auto* text =
        new std::string("simgpu 1 (CUDA " + std::to_string(CUDA_VERSION) + ")");
    return text->c_str();
}

SIMGPU_EXPORT int simgpu_set_fault(const char* name, unsigned long long nth, int code)
{
    return simgpu::arm(name, nth, code) ? 0 : -1;
}

SIMGPU_EXPORT void simgpu_clear_faults(void)
{
    auto& state = simgpu::watch();
    const std::lock_guard lock(state.mutex);
    state.faults.clear();
    simgpu::update_watched(state);
}

SIMGPU_EXPORT void simgpu_set_observer(simgpu_observer observer)
{
    auto& state = simgpu::watch();
    const std::lock_guard lock(state.mutex);
    state.observer.store(observer);
    simgpu::update_watched(state);
}

SIMGPU_EXPORT unsigned long long simgpu_call_count(const char* name)
{
    const simgpu::Entry* entry = simgpu::find_entry(name);
    return entry ? entry->calls.load() : ~0ULL;
}

} // extern "C"
