/* tests/programs/process/count_syscalls.c — runs a program and counts its system calls.
 *
 * The count goes to stderr. */
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    long stops = 0;
    int status = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        ++stops;
        ptrace(PTRACE_SYSCALL, child, 0, 0);
    }
    fprintf(stderr, "%ld\n", stops / 2); /* one stop at the entry of a call, one at its end */
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
