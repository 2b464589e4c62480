/* tests/programs/process/no_cuda.c — names phases, but never touches CUDA.
 *
 * It prints how many threads it has. */
#include <dirent.h>
#include <stdio.h>

#include "interpose/vramscope.h"

int main(void)
{
    int threads = 0;
    vramscope_range_push("count");
    vramscope_point("in between");
    DIR* tasks = opendir("/proc/self/task");
    for (struct dirent* entry; tasks && (entry = readdir(tasks));)
        threads += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    vramscope_range_pop();
    printf("%d\n", threads);
    return 0;
}
