/* tests/programs/doors/other_preload.c — another tool's preload.
 *
 * It has a dlsym, a cuMemAlloc and a cuMemFree of its own, which go to the next.
 *
 * Also built without the dlsym (other_wrapper): what is next is ours to say then. And built into a
 * program of its own (doors_own_dlsym): then it stands before every preload. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static void say(const char* line)
{
    if (write(STDOUT_FILENO, line, strlen(line)) < 0)
        _exit(9);
}

#ifndef WITHOUT_DLSYM
void* dlsym(void* restrict handle, const char* restrict name)
{
    static void* (*next)(void*, const char*);
    if (!next) {
        void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!found)
            found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&next, &found, sizeof next);
    }
    if (strcmp(name, "cuInit") == 0)
        say("the other was asked\n");
    return next(handle, name);
}
#endif

#ifndef WITHOUT_CUDA
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes)
{
    static CUresult (*next)(CUdeviceptr*, size_t);
    if (!next) {
        void* found = dlsym(RTLD_NEXT, "cuMemAlloc_v2");
        if (!found)
            return CUDA_ERROR_NOT_FOUND;
        memcpy(&next, &found, sizeof next);
        say("the other allocates\n");
    }
    return next(address, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    static CUresult (*next)(CUdeviceptr);
    if (!next) {
        void* found = dlsym(RTLD_NEXT, "cuMemFree_v2");
        if (!found)
            return CUDA_ERROR_NOT_FOUND;
        memcpy(&next, &found, sizeof next);
        say("the other frees\n");
    }
    return next(address);
}
#endif
