# tests/e2e/musl_test.py — programs of musl that find our preload in their environment, as a child
# of a traced program or a container of Alpine's does: they run as without it.
import shutil
import subprocess
import unittest

from e2e import PRELOAD, VRAMSCOPE, EndToEndTest, simulated_only

LIBRARY = "int answer(void) { return 9; }"
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void at_exit(void) { puts("exit handler"); }
static void *thread(void *argument) { return argument; }

int main(int count, char **words)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    atexit(at_exit);
    printf("%d %d\n", dlsym(RTLD_DEFAULT, "puts") == (void *)puts, dlsym(RTLD_NEXT, "puts") == (void *)puts);
    printf("[%s]\n", dlerror());
    for (int i = 0; i < 4; ++i) {
        printf("%p ", dlsym(i % 2 ? RTLD_DEFAULT : RTLD_NEXT, i < 2 ? "cuInit" : "no_such_name"));
        printf("[%s]\n", dlerror());
    }
    printf("%p ", dlopen("./nothing.so", RTLD_NOW | 8));
    printf("[%s]\n", dlerror());
    void *library = dlopen("./library.so", RTLD_NOW);
    int (*answer)(void) = dlsym(library, "answer");
    printf("%d %d\n", answer(), dlclose(library));
    pthread_t other;
    void *result = NULL;
    pthread_create(&other, NULL, thread, &other);
    pthread_join(other, &result);
    printf("%d\n", result == &other);
    int status = 0;
    if (fork() == 0)
        _exit(4);
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
    if (count > 1)
        _Exit(5);
    return 6;
}
"""


@simulated_only
@unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-gcc (Debian's musl-tools)")
class Musl(EndToEndTest):
    def setUp(self):
        super().setUp()
        (self.folder / "program.c").write_text(PROGRAM)
        (self.folder / "library.c").write_text(LIBRARY)
        subprocess.run(["musl-gcc", "-o", "program", "program.c"], cwd=self.folder, check=True)
        subprocess.run(["musl-gcc", "-shared", "-fPIC", "-o", "library.so", "library.c"], cwd=self.folder, check=True)

    def test_it_behaves_as_without_us(self):
        for words, status in ((), 6), (("now",), 5):
            plain = self.execute("./program", *words)
            self.assertEqual(plain.returncode, status, plain.stderr)
            audit = {"LD_AUDIT": str(PRELOAD.with_name("libvramscope-audit.so"))}
            for environment in ({}, audit, {"VRAMSCOPE_RUN": "0123456789abcdef /nowhere"}):
                done = self.execute("./program", *words, LD_PRELOAD=str(PRELOAD), **environment)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (status, plain.stdout, plain.stderr))
        self.assertEqual(self.logs(), [])

    def test_a_child_of_a_traced_program(self):
        traced = self.execute(VRAMSCOPE, "run", "--simulate", "64MiB", "sh", "-c", "./program; echo $?")
        self.assertEqual(traced.stdout, self.execute("./program").stdout + "6\n")
        self.assertNotIn("Error", traced.stderr)


if __name__ == "__main__":
    unittest.main()
