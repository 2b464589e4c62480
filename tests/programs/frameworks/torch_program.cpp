// tests/programs/frameworks/torch_program.cpp — a program over a caching allocator like PyTorch's.
//
// ALLOCATOR SCENE. It prints what the allocator and its library of reports counted, so that runs
// with and without vramscope can be compared. A line that allocates ends in a comment "MARK name",
// by which a test finds its number.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/scenes.hpp"

namespace {

void* library = nullptr;
std::string folder; // where the libraries are

template <class Function>
Function* function(const char* name)
{
    void* const found = dlsym(library, name); // what the allocator needs is found by it, too
    if (!found) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(4);
    }
    return reinterpret_cast<Function*>(found);
}

void* allocate(std::size_t bytes)
{
    return function<void*(std::size_t)>("allocate")(bytes);
}
void release(void* block)
{
    function<void(void*)>("release")(block);
}
void empty_cache()
{
    function<void()>("empty_cache")();
}

std::vector<void*> losses;

__attribute__((noinline)) void keep_loss()
{
    losses.push_back(allocate(kMiB)); // MARK loss
}

void cache_alone()
{
    std::vector<void*> blocks;
    for (std::size_t kib : {1, 700, 3000, 15000, 5})
        blocks.push_back(allocate(kib << 10));
    for (void* const block : blocks)
        release(block);
}

void leak()
{
    cache_alone();
    for (int epoch = 0; epoch < 3; ++epoch)
        keep_loss();
    std::printf("%zu losses\n", losses.size());
}

void leak_beside()
{
    leak();
    CUdeviceptr own = 0;
    check(cuMemAlloc_v2(&own, 5 * kMiB)); // MARK own
}

// Another library beside the allocator, which has memory of its own.
void leak_in_plugin()
{
    leak();
    const std::string path = folder + "/libplugin_linked.so";
    void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!plugin)
        std::exit(5);
    reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_run"))();
}

void give_back()
{
    cache_alone();
    empty_cache();
    cache_alone();
}

void grow()
{
    cache_alone();
    for (int step = 0; step < 100; ++step) {
        void* const temporary = allocate(3 * kMiB); // MARK temporary
        keep_loss();
        release(temporary);
    }
}

// A part of 256 MiB.
void run_out()
{
    std::vector<void*> kept;
    for (int at = 0; at < 11; ++at) {
        kept.push_back(allocate(kMiB / 2));
        kept.push_back(allocate(18 * kMiB)); // MARK batch
    }
    std::printf("%d\n", allocate(64 * kMiB) == nullptr); // MARK short
}

// The driver refuses, and has enough when the cache was given back.
void retry()
{
    std::vector<void*> batches;
    for (int at = 0; at < 11; ++at)
        batches.push_back(allocate(18 * kMiB));
    for (void* const batch : batches)
        release(batch);
    losses.push_back(allocate(64 * kMiB)); // MARK retried
}

// Another library's failure, which the allocator's own success does not mend.
void run_out_beside()
{
    cache_alone();
    CUdeviceptr own = 0;
    std::printf("%d\n", cuMemAlloc_v2(&own, 300 * kMiB)); // MARK own
    retry();
}

void from_threads()
{
    std::vector<std::thread> threads;
    for (int at = 0; at < 4; ++at)
        threads.emplace_back([] {
            check(cuCtxSetCurrent(primary_context()));
            for (int step = 0; step < 200; ++step)
                release(allocate(std::size_t{1} << (step % 17))); // all fit one segment
        });
    for (std::thread& thread : threads)
        thread.join();
}

// A child of fork gives back what it inherited, as Python's workers do.
void worker()
{
    void* const block = allocate(kMiB);
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        release(block);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("worker %d\n", status);
    release(block);
}

void on_host()
{
    function<void(std::size_t)>("allocate_on_host")(1000);
    cache_alone();
}

// Twelve MiB are given back while another stream uses them, and a block beside them is not.
void use_elsewhere()
{
    void* const block = allocate(12 * kMiB);
    function<void(void*)>("use_elsewhere")(block);
    void* const other = allocate(kMiB);
    release(block);
    release(other);
}
void use_elsewhere_for_a_while()
{
    use_elsewhere();
    keep_loss();
    keep_loss();
    function<void()>("pass_streams")();
    release(allocate(kMiB));
}
// The last that changes is the cache, of which the allocator tells nobody.
void use_elsewhere_and_empty()
{
    use_elsewhere();
    empty_cache();
}

void reset()
{
    keep_loss();
    check(cuDevicePrimaryCtxReset_v2(0));
}

constexpr Scene kScenes[] = {
    {"cache_alone", cache_alone},
    {"leak", leak},
    {"leak_beside", leak_beside},
    {"leak_in_plugin", leak_in_plugin},
    {"give_back", give_back},
    {"grow", grow},
    {"run_out", run_out},
    {"retry", retry},
    {"run_out_beside", run_out_beside},
    {"worker", worker},
    {"on_host", on_host},
    {"from_threads", from_threads},
    {"use_elsewhere", use_elsewhere},
    {"use_elsewhere_for_a_while", use_elsewhere_for_a_while},
    {"use_elsewhere_and_empty", use_elsewhere_and_empty},
    {"reset", reset},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) {
        std::fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "ALLOCATOR SCENE");
        return 2;
    }
    folder = std::string(argv[1]).substr(0, std::string(argv[1]).rfind('/'));
    const int status = play_scene(kScenes, argc - 1, argv + 1);
    std::uint64_t calls = 0;
    std::uint64_t shortages = 0;
    std::int64_t told_bytes = 0;
    std::size_t bytes[4];
    function<void(std::uint64_t*, std::int64_t*, std::uint64_t*)>("told")(&calls, &told_bytes,
                                                                          &shortages);
    function<void(std::size_t*)>("statistics")(bytes);
    std::printf("told %ju times of %jd bytes, %ju shortages; allocated %zu reserved %zu active %zu "
                "peak %zu\n",
                static_cast<std::uintmax_t>(calls), static_cast<std::intmax_t>(told_bytes),
                static_cast<std::uintmax_t>(shortages), bytes[0], bytes[1], bytes[2], bytes[3]);
    return status;
}
