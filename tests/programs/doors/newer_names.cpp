// tests/programs/doors/newer_names.cpp — looks up functions of memory that only a later driver has.
//
// Usage: newer_names WHEN, on odd_driver.cpp. Prints each answer; what it got is called as that
// driver means it. WHEN is before, after or in_thread: of the first call of CUDA; forked: before a
// fork, and only the child calls CUDA; many: more names than anyone keeps; storm: from eight
// threads, while a ninth calls CUDA for the first time.
#include <barrier>
#include <cerrno>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/doors/where.hpp"
#include "tests/programs/driver_program.hpp"

namespace {

void* driver()
{
    static void* const handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
        std::exit(4);
    return handle;
}

void* by_name(const char* name)
{
    errno = 0;
    void* const function = dlsym(driver(), name);
    const char* const error = dlerror();
    std::printf("%s %s, error %s, errno %d\n", name, where(function), error ? error : "none",
                errno);
    return function;
}

void* by_get_proc(const char* name, int version)
{
    static const auto find =
        reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(driver(), "cuGetProcAddress"));
    void* function = nullptr;
    errno = 0;
    const CUresult result = find(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT);
    std::printf("%s@%d %s, result %d, errno %d\n", name, version, where(function),
                static_cast<int>(result), errno);
    return function;
}

void look_up()
{
    CUdeviceptr address = 0;
    const auto quantum = reinterpret_cast<CUresult (*)(CUdeviceptr*)>(by_name("cuMemAllocQuantum"));
    check(quantum(&address));
    by_name("cuMemAllocQuantum");
    by_name("cuLaunchQuantum");
    by_name("cuMemAllocOfNobody");
    std::printf("default %s\n", where(dlsym(RTLD_DEFAULT, "cuMemAllocQuantum")));
    std::printf("next %s\n", where(dlsym(RTLD_NEXT, "cuMemAllocQuantum")));
    const auto exported_v3 =
        reinterpret_cast<CUresult (*)(size_t, CUdeviceptr*)>(by_name("cuMemAlloc_v3"));
    check(exported_v3(512, &address));

    check(reinterpret_cast<CUresult (*)(CUdeviceptr*)>(by_get_proc("cuMemAllocQuantum", 14000))(
        &address));
    by_get_proc("cuLaunchQuantum", 14000);
    by_get_proc("cuMemAllocOfNobody", 14000);
    const auto v3 =
        reinterpret_cast<CUresult (*)(size_t, CUdeviceptr*)>(by_get_proc("cuMemAlloc", 14000));
    check(v3(512, &address));
    const auto newer_free =
        reinterpret_cast<CUresult (*)(const char*, CUdeviceptr)>(by_get_proc("cuMemFree", 14000));
    check(newer_free("because", address));
}

void use()
{
    CUdeviceptr address = 0;
    check(reinterpret_cast<decltype(&cuInit)>(dlsym(driver(), "cuInit"))(0));
    check(reinterpret_cast<decltype(&cuMemAlloc_v2)>(dlsym(driver(), "cuMemAlloc_v2"))(&address,
                                                                                       3000));
    check(reinterpret_cast<decltype(&cuMemFree_v2)>(dlsym(driver(), "cuMemFree_v2"))(address));
}

void storm()
{
    constexpr int kThreads = 8;
    constexpr int kNames = 50;
    std::barrier start(kThreads + 1);
    std::vector<std::thread> threads;
    for (int first = 0; first < kThreads; ++first)
        threads.emplace_back([&start, first] {
            const auto find =
                reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(driver(), "cuGetProcAddress"));
            start.arrive_and_wait();
            for (int i = 0; i < kNames; ++i) {
                void* function = nullptr;
                const std::string name =
                    "cuMemAllocMany" + std::to_string((first * 6 + i) % kNames);
                check(find(name.c_str(), &function, 14000, CU_GET_PROC_ADDRESS_DEFAULT));
                usleep(50); // so that they go on for as long as the log's opening takes
            }
        });
    start.arrive_and_wait();
    use();
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace

int main(int argc, char** argv)
{
    const std::string when = argc == 2 ? argv[1] : "";
    if (when == "storm")
        return storm(), 0;
    const bool used = when == "after" || when == "in_thread";
    if (used)
        use();
    if (when == "in_thread")
        std::thread(look_up).join();
    else if (when == "many")
        for (int i = 0; i < 100; ++i)
            by_get_proc(("cuMemAllocMany" + std::to_string(i)).c_str(), 14000);
    else
        look_up();
    std::fflush(stdout);
    const pid_t child = when == "forked" ? fork() : 0;
    if (child == 0) {
        if (!used)
            use();
        return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}
