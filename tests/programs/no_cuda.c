/* tests/programs/no_cuda.c — a program that never touches CUDA. Prints how many threads it has. */
#include <dirent.h>
#include <stdio.h>

int main(void)
{
    int threads = 0;
    DIR* tasks = opendir("/proc/self/task");
    for (struct dirent* entry; tasks && (entry = readdir(tasks));)
        threads += entry->d_name[0] != '.';
    printf("%d\n", threads);
    return 0;
}
