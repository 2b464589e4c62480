# tests/programs/python/scenes.py — allocates from many kinds of Python stacks, and says
# what each one is.
#
# Usage: scenes.py EXPECTED. It writes what expected.py says. A child of a fork, which is made
# before CUDA is used, writes EXPECTED.child.
import asyncio
import atexit
import ctypes
import functools
import os
import sys
import threading

from expected import EXPECTED, allocate, free, holding, runtime, write


def recurse(depth):
    if depth == 0:
        return allocate()
    return recurse(depth - 1)


def through_c(depth):
    if depth == 0:
        return allocate()
    return sorted([depth - 1], key=through_c)


def numbers(count):
    for number in range(count):
        allocate()
        yield number


def delegating(count):
    yield from numbers(count)


def module_class():
    class Module:
        weight = allocate()

        def __init__(self):
            self.state = [allocate() for _ in range(2)]

        @property
        def value(self):
            return allocate()

        def __call__(self):
            def inner():
                return self.value
            return inner()

        def __del__(self):
            free(self.state.pop())
    return Module


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper


@decorated
def of_many_lines(*values):
    return allocate(
        holding
        if values
        else
        runtime
    )


async def coroutine(depth):
    await asyncio.sleep(0)
    if depth:
        return await coroutine(depth - 1)
    async for _ in stream(2):
        allocate()


async def stream(count):
    for number in range(count):
        allocate()
        await asyncio.sleep(0)
        yield number


def with_events():
    async def main():
        await asyncio.gather(coroutine(3), coroutine(1))
    asyncio.run(main())


def from_callbacks():
    values = (ctypes.c_int * 4)(3, 1, 2, 4)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))

    def compare(left, right):
        allocate()
        return left[0] - right[0]
    libc = ctypes.CDLL(None)
    libc.qsort(values, 4, ctypes.sizeof(ctypes.c_int), kind(compare))


# Each code object is gone before the next one is made, which often gets its address.
def from_generated_code():
    for number in range(40):
        exec(compile("\n" * (number % 7) + "allocate()", "<made %02d>" % (number % 10), "exec"), globals())
    for number in range(20):
        names = dict(globals())
        exec("\n" * number + "def made():\n    x = 1\n\n    return allocate()\nmade()", names)
        del names
    for number in range(20):  # the recorder knows the stack well when the code object goes
        exec(compile("\n" * number + "for _ in range(5): allocate()", "<again>", "exec"), globals())


def with_names():
    source = "def größe_Ж():\n    return allocate()\ngröße_Ж()"
    for file in ("größe.py", "файл.py", "\U0001f600.py", "名前.py"):
        exec(compile(source, file, "exec"), dict(globals()))


def with_exceptions():
    try:
        raise ValueError
    except ValueError:
        try:
            recurse(2)
            raise
        except ValueError:
            allocate()
        finally:
            allocate()


def traced():
    def trace(frame, event, argument):
        return trace
    sys.settrace(trace)
    recurse(3)
    sys.settrace(None)


def in_threads():
    def work():
        for depth in range(5):
            recurse(depth)
            through_c(depth)
            next(numbers(1))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# Each value is asked for by another thread, which is gone when the next one comes.
def in_other_threads():
    values, stacked = numbers(4), delegating(4)

    async def awaited():
        await asyncio.sleep(0)
        allocate()
    for number in range(4):
        def resume():
            next(values), next(stacked)
            asyncio.run(awaited())
        thread = threading.Thread(target=resume if number % 2 else lambda: recurse(number) or resume())
        thread.start()
        thread.join()


def deep():
    sys.setrecursionlimit(30000)
    threading.stack_size(1 << 29)
    thread = threading.Thread(target=recurse, args=(10000,))
    thread.start()
    thread.join()
    threading.stack_size(0)


def forked():
    child = os.fork()
    if child == 0:
        EXPECTED.clear()
        recurse(4)
        with_exceptions()
        write(sys.argv[1] + ".child")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def at_exit():
    recurse(1)
    write(sys.argv[1])


def main():
    forked()
    atexit.register(at_exit)
    for repeated in range(3):
        recurse(repeated)
    through_c(6)
    list(numbers(2)), list(delegating(2)), [allocate() for _ in range(2)]
    Module = module_class()
    modules = [Module() for _ in range(2)]
    for module in modules:
        module(), module.value
    of_many_lines(), of_many_lines(1), (lambda: allocate())(), list(map(allocate, [holding, runtime]))
    for scene in (with_events, from_callbacks, from_generated_code, with_names, with_exceptions, traced, in_threads,
                  in_other_threads, deep):
        scene()
    globals()["kept"] = modules  # whose memory is freed when the interpreter ends


main()
