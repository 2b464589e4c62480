// tests/programs/memory/reach_cases.cpp — every way to hold a block, or to lose it, once.
//
// Prints "BYTES NAME" for each block, "ready", and waits for its stdin to end, or with any argument
// returns from main at once, past the destructors of what holds some. With -DTWIN the
// blocks are malloc's, and LeakSanitizer or valgrind judges at the same place: it needs no CUDA
// then. What is true of each name is in tests/e2e/live/reach_test.py.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <pthread.h>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#ifdef TWIN
extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));
#else
#include "tests/programs/driver_program.hpp"
#endif

namespace {

#ifdef TWIN
void begin() {}
char* allocate(std::size_t bytes)
{
    return static_cast<char*>(std::malloc(bytes));
}
char* allocate_pinned(std::size_t bytes)
{
    return static_cast<char*>(std::calloc(bytes, 1));
}
void end()
{
    if (__lsan_do_recoverable_leak_check)
        __lsan_do_recoverable_leak_check();
    _exit(0);
}
#else
CUcontext context; // what leads to a driver's books
void begin()
{
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
}
char* allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes));
    return reinterpret_cast<char*>(block);
}
char* allocate_pinned(std::size_t bytes)
{
    void* block = nullptr;
    check(cuMemHostAlloc(&block, bytes, 0));
    std::memset(block, 0, bytes);
    return static_cast<char*>(block);
}
void end()
{
    while (std::getchar() != EOF) {
    }
    _exit(0);
}
#endif

// No copy of a pointer may stay behind in a register or on the stack: it is handed on disguised.
constexpr std::uintptr_t kMask = 0x5555555555555555;
std::size_t next_bytes = 4096;

[[gnu::noinline]] std::uintptr_t hide(char* block, const char* name)
{
    std::printf("%zu %s\n", next_bytes, name);
    return reinterpret_cast<std::uintptr_t>(block) ^ kMask;
}
[[gnu::noinline]] std::uintptr_t make(const char* name)
{
    next_bytes += 16;
    return hide(allocate(next_bytes), name);
}
[[gnu::noinline]] std::uintptr_t make_pinned(const char* name)
{
    next_bytes += 16;
    return hide(allocate_pinned(next_bytes), name);
}
[[gnu::always_inline]] inline char* shown(std::uintptr_t hidden)
{
    return reinterpret_cast<char*>(hidden ^ kMask);
}

} // namespace

// Not static, nor without a linkage: nothing reads them, and the compiler would leave them out.
struct Buffer {
    char* data = nullptr;
    Buffer* next = nullptr;
    char more[48] = {};
};

struct Layer {
    virtual ~Layer() = default;
    char* weights = nullptr;
};

char* a_global;
char* an_interior;
char* an_end;
char* overwritten;
std::uintptr_t xored;
std::uintptr_t tagged;
std::vector<char*>* a_vector;
std::map<int, char*>* a_map;
std::function<char*()>* a_function;
Layer* a_layer;
Buffer* a_list;
Buffer* in_other_arena;
Buffer* left_behind;
Buffer* in_second_heap;
Buffer* behind_others;
std::vector<char*> many;
struct Forgetful {
    char* data = nullptr;
    ~Forgetful()
    {
        data = nullptr;
        asm volatile("" : : "r"(&data) : "memory");
    }
};
Forgetful with_destructor;
char** large;
char** mapped;
char** pinned;
std::unordered_map<int, char*>* an_unordered_map;
std::deque<char*>* a_deque;
std::set<char*>* a_set;
std::shared_ptr<Buffer> shared;
std::vector<std::vector<char*>>* vectors;
Buffer* structs;
char** shared_mapping;
std::vector<char*>* shorter;
char* of_both;
Buffer* both; // what it leads to at once is held by of_both too
struct Tree {
    Tree* left = nullptr;
    Tree* right = nullptr;
    char* data = nullptr;
};
Tree* a_tree;
thread_local char* a_thread_local;
thread_local std::vector<char*> a_local_vector;
pthread_key_t key;
char* packed[3];
pthread_barrier_t ready;

namespace {

[[gnu::noinline]] void wipe_stack()
{
    char space[65536];
    std::memset(space, 0, sizeof space);
    asm volatile("" : : "r"(space) : "memory");
}

[[gnu::noinline]] void hold_by_variables()
{
    a_global = shown(make("global"));
    [[maybe_unused]] static char* volatile a_static;
    a_static = shown(make("static"));
    with_destructor.data = shown(make("with_destructor"));
    static Forgetful local_with_destructor;
    local_with_destructor.data = shown(make("local_with_destructor"));
    an_interior = shown(make("interior")) + 1000;
    const std::uintptr_t hidden = make("one_past_the_end");
    an_end = shown(hidden) + next_bytes;
    overwritten = shown(make("overwritten"));
    asm volatile("" : : : "memory");
    overwritten = nullptr;
    xored = make("xored");
    tagged = reinterpret_cast<std::uintptr_t>(shown(make("tagged"))) | 0xffULL << 56;
    auto odd = reinterpret_cast<std::uintptr_t>(shown(make("unaligned")));
    std::memcpy(reinterpret_cast<char*>(packed) + 4, &odd, 8);
}

[[gnu::noinline]] void hold_by_heap()
{
    a_vector = new std::vector<char*>;
    for (int i = 0; i < 3; ++i)
        a_vector->push_back(shown(make("vector")));
    a_map = new std::map<int, char*>{{7, nullptr}};
    (*a_map)[3] = shown(make("map"));
    char* const captured = shown(make("closure"));
    a_function = new std::function<char*()>(
        [captured, room = std::vector<int>()] { return room.empty() ? captured : nullptr; });
    a_layer = new Layer;
    a_layer->weights = shown(make("object"));
    for (int i = 0; i < 40; ++i)
        a_list = new Buffer{nullptr, a_list, {}};
    Buffer* last = a_list;
    while (last->next)
        last = last->next;
    last->data = shown(make("end_of_a_list_of_40"));
    large = static_cast<char**>(std::calloc(1 << 20, 1));
    large[100000] = shown(make("large_heap_block"));
    mapped = static_cast<char**>(
        mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mapped[700] = shown(make("mapped_memory"));
    pinned = reinterpret_cast<char**>(shown(make_pinned("pinned")));
    pinned[5] = shown(make("in_pinned_memory"));
}

[[gnu::noinline]] void lose_by_heap()
{
    Buffer* owner = new Buffer;
    owner->data = shown(make("in_a_lost_heap_block"));
    Buffer* one = new Buffer;
    one->next = new Buffer{shown(make("in_a_lost_cycle")), one, {}};
    asm volatile("" : : "r"(owner), "r"(one) : "memory"); // made, whatever the compiler thinks
    Buffer* freed = new Buffer;
    char* stale = shown(make("in_a_freed_heap_block"));
    std::memcpy(freed->more + 16, &stale, 8);
    asm volatile("" : : "r"(freed) : "memory");
    delete freed;
    const std::uintptr_t room = make_pinned("lost_pinned");
    reinterpret_cast<char**>(shown(room))[5] = shown(make("in_lost_pinned_memory"));
}

[[gnu::noinline]] Tree* make_tree(int depth)
{
    Tree* const tree = new Tree;
    if (depth > 0)
        *tree = {make_tree(depth - 1), make_tree(depth - 1), nullptr};
    return tree;
}

[[gnu::noinline]] void hold_by_containers()
{
    an_unordered_map = new std::unordered_map<int, char*>;
    for (int i = 0; i < 100; ++i)
        (*an_unordered_map)[i] = nullptr;
    (*an_unordered_map)[42] = shown(make("unordered_map"));
    a_deque = new std::deque<char*>(1000);
    (*a_deque)[700] = shown(make("deque"));
    a_set = new std::set<char*>;
    a_set->insert(shown(make("set")));
    shared = std::make_shared<Buffer>();
    shared->data = shown(make("shared_pointer"));
    vectors = new std::vector<std::vector<char*>>(10);
    (*vectors)[5].push_back(shown(make("vector_of_vectors")));
    structs = static_cast<Buffer*>(std::calloc(1000, sizeof(Buffer)));
    structs[700].data = shown(make("array_of_structs"));
    shared_mapping = static_cast<char**>(
        mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    shared_mapping[700] = shown(make("shared_mapping"));
    a_tree = make_tree(6);
    Tree* leaf = a_tree;
    while (leaf->left)
        leaf = leaf->left;
    leaf->data = shown(make("leaf_of_a_tree"));
    of_both = shown(make("held_twice"));
    both = new Buffer{of_both, new Buffer, {}};
    both->next->data = shown(make("below_what_holds_twice"));
    shorter = new std::vector<char*>(8); // it has room for more: the word stays
    shorter->back() = shown(make("behind_a_vector"));
    shorter->resize(4);
}

[[gnu::noinline]] void lose_by_containers()
{
    std::vector<char*> cleared{shown(make("cleared_vector"))};
    cleared.front() = nullptr;
    asm volatile("" : : "r"(cleared.data()) : "memory");
    Tree* const tree = make_tree(3);
    tree->left->right->data = shown(make("in_a_lost_tree"));
    asm volatile("" : : "r"(tree) : "memory");
}

// Of reach_library.cpp, beside the program.
[[gnu::noinline]] void* hold_by_library(const char* file, const char* name)
{
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    void* const library = dlopen((here / file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        std::exit(4);
    *static_cast<char**>(dlsym(library, "of_a_library")) = shown(make(name));
    return library;
}

[[gnu::noinline]] void lose_by_library()
{
    dlclose(hold_by_library("libreach_library_closed.so", "closed_library"));
}

[[gnu::noinline]] void hold_by_thread()
{
#ifndef TWIN
    check(cuCtxSetCurrent(context));
#endif
    char* volatile kept = shown(make("stack"));
    a_thread_local = shown(make("thread_local"));
    pthread_setspecific(key, shown(make("pthread_key")));
    in_other_arena = new Buffer{shown(make("heap_of_another_arena")), nullptr, {}};
    wipe_stack();
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
    static_cast<void>(kept);
}

// The pointer is in one register alone while the thread sleeps.
[[gnu::noinline]] void hold_by_register()
{
#ifndef TWIN
    check(cuCtxSetCurrent(context));
#endif
    const std::uintptr_t hidden = make("register");
    wipe_stack();
    pthread_barrier_wait(&ready);
#if defined(__x86_64__)
    asm volatile("mov %0, %%rbx\n\t"
                 "mov $0x5555555555555555, %%rax\n\t"
                 "xor %%rax, %%rbx\n"
                 "1: mov $34, %%eax\n\t" // pause
                 "syscall\n\t"
                 "jmp 1b"
                 :
                 : "r"(hidden)
                 : "rax", "rbx", "rcx", "r11", "memory");
#else
    char* volatile kept = shown(hidden);
    for (;;)
        pause();
    static_cast<void>(kept);
#endif
}

// Of a thread that ended: nothing is known of how its heap begins. What it allocated at first fills
// a whole heap, so that the last of it lies in the next one.
[[gnu::noinline]] void fill_heaps()
{
    left_behind = new Buffer{shown(make("left_by_a_thread")), nullptr, {}};
    Buffer* owner = new Buffer{shown(make("lost_by_a_thread")), nullptr, {}};
    asm volatile("" : : "r"(owner) : "memory");
    constexpr std::size_t kBytes = 100'000; // each less than what malloc maps by itself
    for (std::size_t bytes = 0; bytes < std::size_t{70} << 20; bytes += kBytes)
        many.push_back(static_cast<char*>(std::malloc(kBytes)));
    in_second_heap = new Buffer{shown(make("second_heap_of_a_thread")), nullptr, {}};
    owner = new Buffer{shown(make("lost_in_second_heap")), nullptr, {}};
    asm volatile("" : : "r"(owner) : "memory");
}
[[gnu::noinline]] void leave_behind()
{
#ifndef TWIN
    check(cuCtxSetCurrent(context));
#endif
    fill_heaps();
    wipe_stack();
}
// The C library keeps its stack for the next thread.
[[gnu::noinline]] void end_with_a_pointer()
{
#ifndef TWIN
    check(cuCtxSetCurrent(context));
#endif
    char* volatile kept = shown(make("stack_of_a_thread_that_ended"));
    static_cast<void>(kept);
}
// Nobody has waited for it yet.
[[gnu::noinline]] void* end_with_a_result(void*)
{
#ifndef TWIN
    check(cuCtxSetCurrent(context));
#endif
    Buffer* const result = new Buffer{shown(make("result_of_a_thread")), nullptr, {}};
    wipe_stack();
    return result;
}
// Of the next thread in those heaps: its lists of freed chunks lie behind what is left there.
[[gnu::noinline]] void come_after()
{
#ifndef TWIN
    check(cuCtxSetCurrent(context));
#endif
    behind_others = new Buffer{shown(make("behind_what_others_left")), nullptr, {}};
    wipe_stack();
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
}

} // namespace

int main(int count, char**)
{
    begin();
    const std::uintptr_t first =
        make("first"); // of the pool's segment: the driver has this address
    [[maybe_unused]] static std::uintptr_t volatile kept;
    kept = first;
    pthread_key_create(&key, nullptr);
    pthread_barrier_init(&ready, nullptr, 2);
    hold_by_variables();
    hold_by_heap();
    lose_by_heap();
    hold_by_containers();
    lose_by_containers();
    void* const library = hold_by_library("libreach_library.so", "open_library");
    *static_cast<char**>(dlsym(library, "local_of_a_library")) =
        shown(make("thread_local_of_a_library"));
    lose_by_library();
    a_thread_local = shown(make("thread_local_of_main"));
    a_local_vector.assign(3, shown(make("vector_of_main"))); // no word of its block is left over
    wipe_stack();
    std::thread(hold_by_thread).detach();
    pthread_barrier_wait(&ready);
    std::thread(hold_by_register).detach();
    pthread_barrier_wait(&ready);
    many.reserve(1000);
    std::thread(leave_behind).join();
    std::thread(come_after).detach();
    pthread_barrier_wait(&ready);
    usleep(100000); // until it sleeps
    pthread_t ended;
    pthread_create(&ended, nullptr, end_with_a_result, nullptr);
    usleep(100000); // until it has ended
    std::thread(end_with_a_pointer).join();
    wipe_stack();
    std::puts("ready");
    std::fflush(stdout);
    if (count == 1)
        end();
}
