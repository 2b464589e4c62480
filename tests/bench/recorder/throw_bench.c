// tests/bench/recorder/throw_bench.c — a C program that loads a C++ plugin, as python does.
//
//   throw_bench PLUGIN COUNT    prints the ns of a throw through 30 frames
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv)
{
    void* plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*catch_one)(int) = NULL;
    if (plugin)
        *(void**)&catch_one = dlsym(plugin, "catch_one");
    if (!catch_one) {
        fprintf(stderr, "usage: throw_bench PLUGIN COUNT\n");
        return 125;
    }
    const long count = atol(argv[2]);
    for (int i = 0; i < 100; ++i)
        catch_one(30);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < count; ++i)
        catch_one(30);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.1f\n",
           ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
               (double)count);
    return 0;
}
