// tools/simgpu/runtime/driver.cpp — open libcuda.so.1 and look everything up in it.
#include "tools/simgpu/runtime/driver.hpp"

#include <atomic>
#include <dlfcn.h>
#include <mutex>

namespace simgpu::runtime {
namespace {

#if CUDART_VERSION >= 12000
using GetProcAddress = PFN_cuGetProcAddress_v12000;
constexpr char kGetProcAddress[] = "cuGetProcAddress_v2";
constexpr int kGetProcAddressVersion = 12000;

CUresult ask(GetProcAddress function, const char* name, void** found, int version, cuuint64_t flags,
             int* status)
{
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult answer = function(name, found, version, flags, status ? &result : nullptr);
    if (status)
        *status = static_cast<int>(result);
    return answer;
}
#else
using GetProcAddress = PFN_cuGetProcAddress_v11030;
constexpr char kGetProcAddress[] = "cuGetProcAddress";
constexpr int kGetProcAddressVersion = 11030;

CUresult ask(GetProcAddress function, const char* name, void** found, int version, cuuint64_t flags,
             int* status)
{
    const CUresult answer = function(name, found, version, flags);
    if (status)
        *status = answer == CUDA_SUCCESS ? 0 : 1;
    return answer;
}
#endif

std::atomic<Driver*> opened{nullptr};

Driver* open_driver(CUresult& why_not)
{
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    auto function =
        library ? reinterpret_cast<GetProcAddress>(dlsym(library, kGetProcAddress)) : nullptr;
    why_not = CUDA_ERROR_NOT_FOUND;
    if (!function)
        return nullptr;
    // In the order of NVIDIA's runtime, which first asks for an empty name and expects a failure.
    void* found = nullptr;
    ask(function, "", &found, 0, 0, nullptr);
    PFN_cuInit_v2000 init = nullptr;
    ask(function, "cuInit", reinterpret_cast<void**>(&init), 2000, 0, nullptr);
    ask(function, "cuGetProcAddress", &found, 11030, 0, nullptr);
    ask(function, "cuGetProcAddress", &found, kGetProcAddressVersion, 0, nullptr);
    if (!init || !found)
        return nullptr;
    function = reinterpret_cast<GetProcAddress>(found);
    auto* driver = new Driver{};
    driver->get_proc_address = found;
    driver->set_variable_bytes = reinterpret_cast<decltype(&simgpu_set_variable_bytes)>(
        dlsym(library, "simgpu_set_variable_bytes"));
    const auto get = [function](const char* name, int version, cuuint64_t flags, auto& field) {
        void* address = nullptr;
        ask(function, name, &address, version, flags, nullptr);
        field = reinterpret_cast<std::remove_reference_t<decltype(field)>>(address);
    };
    constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#define SIMGPU_CALL(name, version, ...) get(#name, version, 0, driver->name);
#define SIMGPU_STREAM_CALL(name, version, per_thread_version, ...)                                 \
    get(#name, version, 0, driver->legacy.name);                                                   \
    get(#name, per_thread_version, kPerThread, driver->per_thread.name);
#include "tools/simgpu/runtime/driver_calls.def"
    why_not = driver->cuInit(0);
    if (why_not == CUDA_SUCCESS)
        return driver;
    delete driver;
    return nullptr;
}

} // namespace

const Driver* driver(CUresult& why_not)
{
    if (Driver* ready = opened.load(std::memory_order_acquire))
        return ready;
    static auto* mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    if (!opened.load())
        opened.store(open_driver(why_not), std::memory_order_release);
    return opened.load();
}

const Driver* opened_driver()
{
    return opened.load(std::memory_order_acquire);
}

CUresult look_up(const Driver& driver, const char* name, void** function, int version,
                 cuuint64_t flags, int* status)
{
    return ask(reinterpret_cast<GetProcAddress>(driver.get_proc_address), name, function, version,
               flags, status);
}

} // namespace simgpu::runtime
