// tests/bench/recorder/spawn_bench.c — how long a program runs, with and without a preload.
//
//   spawn_bench COUNT PRELOAD PROGRAM [ARGS]
//
// PRELOAD may be empty. Prints the median in microseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_size(const void* a, const void* b)
{
    const double left = *(const double*)a, right = *(const double*)b;
    return left < right ? -1 : left > right;
}

int main(int argc, char** argv)
{
    const int count = argc >= 4 ? atoi(argv[1]) : 0;
    if (count < 1) {
        fprintf(stderr, "usage: spawn_bench COUNT PRELOAD PROGRAM [ARGS]\n");
        return 125;
    }
    if (*argv[2])
        setenv("LD_PRELOAD", argv[2], 1);
    posix_spawn_file_actions_t silent;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&silent, STDOUT_FILENO, STDERR_FILENO);
    double* times = calloc((size_t)count, sizeof *times);
    for (int i = 0; times && i < count; ++i) {
        const double begin = now_us();
        pid_t child;
        int status = 0;
        if (posix_spawn(&child, argv[3], &silent, NULL, argv + 3, environ) != 0 ||
            waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "spawn_bench: %s failed\n", argv[3]);
            return 1;
        }
        times[i] = now_us() - begin;
    }
    qsort(times, (size_t)count, sizeof *times, &by_size);
    printf("%.1f\n", times[count / 2]);
    free(times);
    return 0;
}
