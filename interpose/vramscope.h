/* interpose/vramscope.h — what a program may tell vramscope, and ask it: phases, tests, memory.
 * tools/python/vramscope is the same for Python.
 *
 * Costs nothing and needs no library when the program is not traced: the symbols are weak. Any
 * thread; texts are copied. Ranges nest per thread, like NVTX push and pop, and a report shows them
 * in the same place ("epoch/step").
 *
 *     vramscope_range_push("epoch");  ...  vramscope_range_pop();  vramscope_point("loaded");
 *
 *     struct vramscope_memory_stats now;
 *     if (vramscope_stats(0, &now, sizeof now) == 0)
 *         printf("%llu of %llu reserved bytes are allocated\n",
 *                (unsigned long long)now.allocated_bytes.current,
 *                (unsigned long long)now.reserved_bytes.current);
 */
#ifndef VRAMSCOPE_H
#define VRAMSCOPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names and meanings are those of PyTorch's torch.cuda.memory_stats(). */
struct vramscope_stat {
    uint64_t current;
    uint64_t peak; /* of several contexts on a device: the sum of theirs */
    uint64_t allocated;
    uint64_t freed;
};

/* New fields come at the end: the caller's size says which it knows. */
struct vramscope_memory_stats {
    struct vramscope_stat allocated_bytes;      /* blocks that the program has */
    struct vramscope_stat requested_bytes;      /* the same, before rounding up */
    struct vramscope_stat active_bytes;         /* and those freed, but not yet safe to reuse */
    struct vramscope_stat reserved_bytes;       /* taken from the driver */
    struct vramscope_stat inactive_split_bytes; /* unused parts of segments that are in use */
    struct vramscope_stat allocation, active, segment, inactive_split; /* how many */
    uint64_t num_alloc_retries; /* memory was short, and the cache was given back */
    uint64_t num_ooms;
    uint64_t num_device_alloc; /* calls of the driver */
    uint64_t num_device_free;
};

/* How a test ended. */
enum vramscope_test_result {
    VRAMSCOPE_TEST_ENDED = 0, /* nobody says how */
    VRAMSCOPE_TEST_PASSED = 1,
    VRAMSCOPE_TEST_FAILED = 2,
    VRAMSCOPE_TEST_SKIPPED = 3
};

/* Exported by libvramscope.so; null in a process without it. */
void vramscope_push(const char* name) __attribute__((weak));
void vramscope_pop(void) __attribute__((weak));
void vramscope_mark(const char* name) __attribute__((weak));
void vramscope_begin_test(const char* name) __attribute__((weak));
void vramscope_end_test(const char* name, int result) __attribute__((weak));
void vramscope_bypassed(const char* framework) __attribute__((weak));
int64_t vramscope_pool_empty_cache(void) __attribute__((weak));
void vramscope_pool_reset_peak(void) __attribute__((weak));
int vramscope_pool_stats(int device, struct vramscope_memory_stats* stats, size_t size)
    __attribute__((weak));
int vramscope_pool_take_peak(int device, struct vramscope_memory_stats* stats, size_t size)
    __attribute__((weak));
/* What PyTorch's blocks have on a device, in bytes, and at most since this was asked last. -1, and
 * nothing is written: its allocator has told of none there. */
int vramscope_torch_take_peak(int device, uint64_t* allocated, uint64_t* peak)
    __attribute__((weak));
const char* vramscope_preload_version(void) __attribute__((weak));
int vramscope_current_device(void) __attribute__((weak));
int64_t vramscope_device_headroom(void) __attribute__((weak));

static inline void vramscope_range_push(const char* name)
{
    if (vramscope_push)
        vramscope_push(name);
}

static inline void vramscope_range_pop(void)
{
    if (vramscope_pop)
        vramscope_pop();
}

static inline void vramscope_point(const char* name)
{
    if (vramscope_mark)
        vramscope_mark(name);
}

/* A test of this process begins: until its end, what any thread allocates is the test's, and
 * `vramscope check` judges it by itself. Tests run one after the other: one that begins before
 * another has ended takes its place. vramscope_gtest.h and the plugin for pytest call these two. */
static inline void vramscope_test_begin(const char* name)
{
    if (vramscope_begin_test)
        vramscope_begin_test(name);
}

/* `name` is the one that it began with. */
static inline void vramscope_test_end(const char* name, enum vramscope_test_result result)
{
    if (vramscope_end_test)
        vramscope_end_test(name, result);
}

/* Reports say from now on that the allocator of this framework ("CuPy") is switched off, so that each
 * of its buffers is an allocation. It switches nothing itself. */
static inline void vramscope_note_bypassed(const char* framework)
{
    if (vramscope_bypassed)
        vramscope_bypassed(framework);
}

/* Waits for the devices and gives all memory that the pool only caches back to the driver. Returns
 * the bytes; -1: there is no pool, a stream is being captured, or the process is exiting. */
static inline int64_t vramscope_empty_cache(void)
{
    return vramscope_pool_empty_cache ? vramscope_pool_empty_cache() : -1;
}

/* From now on every peak is that of what comes. */
static inline void vramscope_reset_peak(void)
{
    if (vramscope_pool_reset_peak)
        vramscope_pool_reset_peak();
}

/* The pool's memory on a device, by its number; -1: on all. Returns 0, or -1 and zeros where there
 * is no pool: without vramscope, with VRAMSCOPE_POOL=off, or before the device's first allocation.
 * Where there are several contexts, or threads that allocate at once, each has a pool of its own,
 * and a peak is the sum of their peaks.
 * `size` is sizeof *stats. */
static inline int vramscope_stats(int device, struct vramscope_memory_stats* stats, size_t size)
{
    memset(stats, 0, size);
    return vramscope_pool_stats ? vramscope_pool_stats(device, stats, size) : -1;
}

/* As vramscope_stats; from then on every peak of that device is that of what comes. It serves to
 * watch the peak of a part of the program. Several such parts, one in the other or in several
 * threads, must tell each other what they took. A peak that another thread reaches and leaves
 * within the call itself may be missing on both sides. */
static inline int vramscope_take_peak(int device, struct vramscope_memory_stats* stats, size_t size)
{
    memset(stats, 0, size);
    return vramscope_pool_take_peak ? vramscope_pool_take_peak(device, stats, size) : -1;
}

/* "0.4.0"; null: the process is not traced. Belongs to the library. */
static inline const char* vramscope_version(void)
{
    return vramscope_preload_version ? vramscope_preload_version() : 0;
}

/* The device of the calling thread's current context; -1: it has none, or is not traced. */
static inline int vramscope_device(void)
{
    return vramscope_current_device ? vramscope_current_device() : -1;
}

/* Bytes that could still be allocated on the calling thread's current device, as cudaMemGetInfo
 * has them: what the driver says is free for all processes, within VRAMSCOPE_LIMIT, and what the
 * pool would give back. A single allocation can fail below that where memory is in pieces. -1: not
 * known, since the thread has no context, a stream is being captured, or the process is exiting. */
static inline int64_t vramscope_headroom(void)
{
    return vramscope_device_headroom ? vramscope_device_headroom() : -1;
}

#ifdef __cplusplus
}
#endif
#endif
