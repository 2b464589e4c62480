/* tests/programs/other_preload.c — another tool's preload, with a dlsym of its own that counts and
 * goes to libc's.
 *
 * Also built into a program of its own (doors_own_dlsym): then it stands before every preload. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

void* dlsym(void* restrict handle, const char* restrict name)
{
    static void* (*next)(void*, const char*);
    if (!next) {
        void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!found)
            found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&next, &found, sizeof next);
    }
    if (strcmp(name, "cuInit") == 0 && write(STDOUT_FILENO, "the other was asked\n", 20) < 0)
        return NULL;
    return next(handle, name);
}
