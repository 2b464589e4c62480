/* tests/programs/pool/pool_stats.c — a C program that asks for its memory through vramscope.h.
 *
 * One line for each moment: what it is, what vramscope_stats answered, and its numbers. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>

#include "interpose/vramscope.h"

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        exit(3);
}

static void show(const char* moment, int device)
{
    struct vramscope_memory_stats now;
    memset(&now, 0xff, sizeof now);
    const int answer = vramscope_stats(device, &now, sizeof now);
    printf("%s: %d allocated %lu/%lu requested %lu reserved %lu/%lu segments %lu blocks %lu/%lu "
           "device calls %lu+%lu\n",
           moment, answer, now.allocated_bytes.current, now.allocated_bytes.peak,
           now.requested_bytes.current, now.reserved_bytes.current, now.reserved_bytes.peak,
           now.segment.current, now.allocation.current, now.allocation.peak, now.num_device_alloc,
           now.num_device_free);
}

/* Of a program that was built with another version of the header. */
static void show_sizes(void)
{
    struct {
        struct vramscope_memory_stats known;
        uint64_t later;
    } newer;
    memset(&newer, 0xff, sizeof newer);
    vramscope_stats(0, &newer.known, sizeof newer);
    printf("newer: allocated %lu later %lu\n", newer.known.allocated_bytes.current, newer.later);
    struct vramscope_memory_stats older;
    memset(&older, 0xff, sizeof older);
    vramscope_stats(0, &older, sizeof older.allocated_bytes);
    printf("older: allocated %lu untouched %d\n", older.allocated_bytes.current,
           older.requested_bytes.current == ~(uint64_t)0);
}

/* What of this program is known, where there is no pool too. */
static void show_surroundings(const char* moment)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    const CUresult asked = cuMemGetInfo(&free_bytes, &total_bytes);
    const int64_t headroom = vramscope_headroom();
    printf("%s: device %d headroom %s\n", moment, vramscope_device(),
           headroom < 0                                                ? "unknown"
           : asked == CUDA_SUCCESS && (uint64_t)headroom == free_bytes ? "as cuMemGetInfo"
                                                                       : "another");
}

static void show_taken_peak(const char* moment)
{
    struct vramscope_memory_stats now;
    const int answer = vramscope_take_peak(0, &now, sizeof now);
    printf("%s: %d allocated %lu/%lu\n", moment, answer, now.allocated_bytes.current,
           now.allocated_bytes.peak);
}

int main(void)
{
    CUdevice device = 0;
    CUcontext context = 0;
    CUdeviceptr blocks[3];
    printf("version %s\n", vramscope_version() ? vramscope_version() : "none");
    show("before CUDA", 0);
    show_surroundings("nothing");
    check(cuInit(0));
    check(cuDeviceGet(&device, 0));
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; ++i)
        check(cuMemAlloc(&blocks[i], 4u << 20));
    show("three", 0);
    check(cuMemFree(blocks[0]));
    check(cuMemFree(blocks[1]));
    show("two freed", 0);
    show_surroundings("surroundings");
    show("all devices", -1);
    show("no such device", 7);
    vramscope_reset_peak();
    show("peak reset", 0);
    show_sizes();
    printf("given back %ld\n", (long)vramscope_empty_cache());
    show("emptied", 0);
    printf("given back %ld\n", (long)vramscope_empty_cache());
    show_taken_peak("taken");
    check(cuMemFree(blocks[2]));
    show_taken_peak("taken again");
    return 0;
}
