/* tests/programs/doors/plugin_host.c — a C program that opens plugins and calls a function of each.
 *
 * Usage: plugin_host (PLUGIN FUNCTION [deepbind])... Prints what each function returned. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int run(const char* path, const char* name, int flags)
{
    void* plugin = dlopen(path, RTLD_NOW | flags);
    int (*function)(void) = NULL;
    void* found = plugin ? dlsym(plugin, name) : NULL;
    memcpy(&function, &found, sizeof found); /* C knows no conversion of these */
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        return 4;
    }
    printf("%d\n", function());
    return 0;
}

int main(int argc, char** argv)
{
    int status = argc < 3 ? 2 : 0;
    for (int i = 1; i + 1 < argc && status == 0; i += 2) {
        const int deep = i + 2 < argc && strcmp(argv[i + 2], "deepbind") == 0;
        status = run(argv[i], argv[i + 1], deep ? RTLD_DEEPBIND : 0);
        i += deep;
    }
    return status;
}
