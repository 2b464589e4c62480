/* tests/programs/process/failing_calls.c — a library to be preloaded into a command: of one function of libc, one call fails.
 *
 * FAIL=pread:3:5 makes the third call of pread fail with errno 5; FAIL=pread:3:short gives half of what was asked for.
 * COUNT=FILE writes there how often each was called, when the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { OPEN, PREAD, READ, PWRITEV, FALLOCATE, FDATASYNC, FCNTL, MMAP, FSTAT, LSEEK, CALLS };
static const char* const kNames[CALLS] = {"open",      "pread", "read", "pwritev", "fallocate",
                                          "fdatasync", "fcntl", "mmap", "fstat",   "lseek"};
static unsigned calls[CALLS];

static void write_counts(void) __attribute__((destructor));
static void write_counts(void)
{
    FILE* const file = getenv("COUNT") ? fopen(getenv("COUNT"), "w") : NULL;
    if (!file)
        return;
    for (int call = 0; call < CALLS; ++call)
        fprintf(file, "%s %u\n", kNames[call], calls[call]);
    fclose(file);
}

/* 0: this call is done as it stands; -1: half of it; else the errno with which it fails. */
static int fault_of(enum call call)
{
    const unsigned number = __atomic_add_fetch(&calls[call], 1, __ATOMIC_RELAXED);
    const char* const wanted = getenv("FAIL");
    const size_t name = strlen(kNames[call]);
    unsigned at;
    char how[8];
    if (!wanted || strncmp(wanted, kNames[call], name) != 0 ||
        sscanf(wanted + name, ":%u:%7s", &at, how) != 2 || at != number)
        return 0;
    return strcmp(how, "short") == 0 ? -1 : atoi(how);
}

#define REAL(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))
#define FAIL_OR(call, failed)                                                                      \
    const int fault = fault_of(call);                                                              \
    if (fault > 0) {                                                                               \
        errno = fault;                                                                             \
        return failed;                                                                             \
    }

int open(const char* path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    FAIL_OR(OPEN, -1)
    return REAL(open)(path, flags, mode);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset)
{
    FAIL_OR(PREAD, -1)
    return REAL(pread)(fd, bytes, fault < 0 ? count / 2 : count, offset);
}
ssize_t read(int fd, void* bytes, size_t count)
{
    FAIL_OR(READ, -1)
    return REAL(read)(fd, bytes, fault < 0 ? count / 2 : count);
}
ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset)
{
    FAIL_OR(PWRITEV, -1)
    return REAL(pwritev)(fd, parts, fault < 0 ? count / 2 : count, offset);
}
int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    FAIL_OR(FALLOCATE, -1)
    return REAL(fallocate)(fd, mode, offset, bytes);
}
int fdatasync(int fd)
{
    FAIL_OR(FDATASYNC, -1)
    return REAL(fdatasync)(fd);
}
int fcntl(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void* const argument = va_arg(more, void*);
    va_end(more);
    FAIL_OR(FCNTL, -1)
    return REAL(fcntl)(fd, command, argument);
}
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    FAIL_OR(MMAP, MAP_FAILED)
    return REAL(mmap)(at, bytes, protection, flags, fd, offset);
}
int fstat(int fd, struct stat* status)
{
    FAIL_OR(FSTAT, -1)
    return REAL(fstat)(fd, status);
}
off_t lseek(int fd, off_t offset, int from)
{
    FAIL_OR(LSEEK, -1)
    return REAL(lseek)(fd, offset, from);
}
