/* tests/programs/plugin_host.c — a C program that opens a plugin and calls one of its functions.
 *
 * Usage: plugin_host PLUGIN FUNCTION [deepbind]. Prints what the function returned. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv)
{
    int flags = RTLD_NOW;
    if (argc < 3)
        return 2;
    if (argc > 3 && strcmp(argv[3], "deepbind") == 0)
        flags |= RTLD_DEEPBIND;
    void* plugin = dlopen(argv[1], flags);
    int (*function)(void) = NULL;
    void* found = plugin ? dlsym(plugin, argv[2]) : NULL;
    memcpy(&function, &found, sizeof found); /* C knows no conversion of these */
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        return 4;
    }
    printf("%d\n", function());
    return 0;
}
