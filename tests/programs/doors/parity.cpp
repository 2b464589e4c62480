// tests/programs/doors/parity.cpp — prints what dlsym and dlvsym answer.
//
// So a traced run can be compared with a plain one.
//
// Usage: parity none|local|global|none+foreign LIBRARY FOREIGN [storm]: how the driver is opened
// first, or that FOREIGN is opened for all to see. Built twice, the second time linked with -lcuda.
// LIBRARY is asked to look up too, opened as a plugin. storm: eight threads, 10000 look-ups each,
// and the answers must not change.
#include "tests/programs/doors/parity.hpp"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace {

int scope(bool global)
{
    return global ? RTLD_GLOBAL : RTLD_LOCAL;
}

int storm(void* driver)
{
    void* const expected = dlsym(driver, "cuMemAlloc_v2");
    void* const plain = dlsym(driver, "cuDeviceGetCount");
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int step = 0; step < 10000; ++step)
                wrong += dlsym(driver, "cuMemAlloc_v2") != expected ||
                         dlsym(driver, "cuDeviceGetCount") != plain ||
                         dlsym(driver, "cuNothing") != nullptr;
        });
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%d wrong\n", wrong.load());
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 4)
        return 2;
    void* driver = nullptr;
    if (std::strncmp(argv[1], "none", 4) != 0)
        driver = dlopen("libcuda.so.1", RTLD_NOW | scope(std::strcmp(argv[1], "global") == 0));
    if (argc > 4)
        return storm(driver);
    void* const library = dlopen(argv[2], RTLD_NOW);
    void* const foreign =
        dlopen(argv[3], RTLD_NOW | scope(std::strcmp(argv[1], "none+foreign") == 0));
    const auto from_library = reinterpret_cast<void (*)(const char*, void*, void*)>(
        dlsym(library, "look_up_from_library"));
    if (!from_library || !foreign)
        return 4;
    look_up_all("program", driver, foreign);
    from_library("library", driver, foreign);
    return 0;
}
