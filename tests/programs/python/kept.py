# tests/programs/python/kept.py — ways to keep an object of Python; what is said of each is judged by chain_judge.py.
#
# Each function with a name below plants one object in a way of its own; the object leads to a device block, as in
# holders.py. Prints "BYTES NAME" for each block and "ready". Then it reads what was said of them, a line of JSON:
# {name: [chain, ...]}, and prints a line that says which chains are true. A second line of stdin lets it collect, and print
# the names of the blocks whose objects that freed.
import collections
import ctypes
import functools
import gc
import itertools
import json
import sys
import threading
import types
import weakref

ctypes.CDLL("libcuda.so.1")  # first: with it comes room that nobody writes to, and that has the words that were there
from chain_judge import truth_of  # noqa: E402
from driver_blocks import allocate, make_current, wipe  # noqa: E402

freed = []
ways = {}


def way(function):
    ways[function.__name__] = function
    return function


class Tensor:
    """__del__ says when it is freed; the driver's block stays."""

    def __init__(self, name):
        self.impl = ctypes.c_void_p(allocate(name))
        self.name = name

    def __del__(self):
        freed.append(self.name)


@way
def module_global():
    globals()["a_global"] = Tensor("module_global")


@way
def in_list():
    globals()["losses"] = [None, Tensor("in_list")]


@way
def in_dict():
    globals()["cache"] = {(1, 2): Tensor("in_dict")}


@way
def in_dict_of_texts():
    globals()["by_name"] = {"weight": Tensor("in_dict_of_texts"), "bias": None}


@way
def in_nested():
    globals()["nested"] = {"model": [{"layer": (None, Tensor("in_nested"))}]}


@way
def in_set():
    globals()["seen"] = {Tensor("in_set")}


@way
def in_frozen_set():
    globals()["frozen"] = frozenset([Tensor("in_frozen_set")])


@way
def in_deque():
    globals()["recent"] = collections.deque([Tensor("dropped_of_deque"), None])
    globals()["recent"].append(Tensor("in_deque"))  # on a line of its own: a row is of one line
    globals()["recent"].popleft()


@way
def in_ordered_dict():
    globals()["ordered"] = collections.OrderedDict(weight=Tensor("in_ordered_dict"))


@way
def in_default_dict():
    globals()["buckets"] = collections.defaultdict(list)
    globals()["buckets"]["a"].append(Tensor("in_default_dict"))


@way
def in_named_tuple():
    globals()["pair"] = collections.namedtuple("Pair", "a b")(1, Tensor("in_named_tuple"))


class Cache(dict):
    pass


@way
def in_own_dict():
    globals()["own"] = Cache(step=Tensor("in_own_dict"))


class Module:
    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


@way
def attribute():
    globals()["model"] = Module(layer=Module(weight=Tensor("attribute")))


@way
def in_instance_dict():
    globals()["with_dict"] = Module()
    globals()["with_dict"].__dict__["weight"] = Tensor("in_instance_dict")


class Slotted:
    __slots__ = ("other", "impl")


@way
def slots():
    globals()["slotted"] = Slotted()
    globals()["slotted"].impl = Tensor("slots")


class Registered:
    registry = []


@way
def class_attribute():
    Registered.registry.append(Tensor("class_attribute"))


@way
def closure():
    state = Tensor("closure")
    globals()["callback"] = lambda: state


@way
def default_argument():
    def with_default(value=Tensor("default_argument")):
        return value
    globals()["with_default"] = with_default


@way
def keyword_default():
    def with_keyword(*, value=Tensor("keyword_default")):
        return value
    globals()["with_keyword"] = with_keyword


@way
def partial():
    globals()["bound"] = functools.partial(print, Tensor("partial"))


@way
def bound_method():
    globals()["hooks"] = [Module(state=Tensor("bound_method"), run=None).__init__]


@way
def lru_cache():
    @functools.lru_cache(maxsize=8)
    def load(path):
        return Tensor("lru_cache")
    load("a")
    globals()["load"] = load


@way
def unbounded_cache():
    @functools.lru_cache(maxsize=None)
    def load_all(path):
        return Tensor("unbounded_cache")
    load_all("a")
    globals()["load_all"] = load_all


@way
def generator():
    def batches():
        batch = Tensor("generator")
        yield batch
        del batch
    globals()["running"] = batches()
    next(globals()["running"])


@way
def coroutine():
    async def serve():
        request = Tensor("coroutine")
        await Waits()
        del request
    globals()["serving"] = serve()
    globals()["serving"].send(None)


class Waits:
    def __await__(self):
        yield


@way
def exception():
    def fails():
        batch = Tensor("exception")
        raise RuntimeError(len(batch.name))
    try:
        fails()
    except RuntimeError as error:
        globals()["caught"] = [error]


@way
def chained_exception():
    def fails_inside():
        inner = Tensor("chained_exception")
        raise KeyError(len(inner.name))
    try:
        try:
            fails_inside()
        except KeyError as error:
            raise RuntimeError("outer") from error
    except RuntimeError as error:
        globals()["outer"] = error.with_traceback(None)


@way
def weak_and_strong():
    tensor = Tensor("weak_and_strong")
    globals()["weak"] = weakref.ref(tensor)
    globals()["weak_values"] = weakref.WeakValueDictionary(a=tensor)
    globals()["strong"] = [tensor]


@way
def callback_of_weak():
    state = Tensor("callback_of_weak")
    globals()["watched"] = Module()
    globals()["watcher"] = weakref.ref(globals()["watched"], lambda _: state)


@way
def iterator():
    globals()["position"] = iter([Tensor("iterator"), None])


@way
def chain_of_iterators():
    globals()["batches"] = itertools.chain([Tensor("chain_of_iterators")], [])


@way
def namespace():
    globals()["options"] = types.SimpleNamespace(state=Tensor("namespace"))


@way
def other_module():
    module = types.ModuleType("of_the_program")
    sys.modules["of_the_program"] = module
    module.state = Tensor("other_module")


@way
def local_of_a_thread():
    def waits():
        make_current()
        waiting = Tensor("local_of_a_thread")
        ready.set()
        forever.wait()
        del waiting
    ready = threading.Event()
    forever = threading.Event()
    threading.Thread(target=waits, daemon=True).start()
    ready.wait()


@way
def local_of_a_caller():
    """Of main(), below."""


@way
def cycle():
    module = Module(tensor=Tensor("cycle"))
    module.me = module


@way
def cycle_of_two():
    one, other = Module(), Module(tensor=Tensor("cycle_of_two"))
    one.other, other.one = other, [one]


@way
def below_a_cycle():
    module = Module(kept=[{"a": Tensor("below_a_cycle")}])
    module.me = module


@way
def cycle_of_a_frame():
    def fails():
        batch = Tensor("cycle_of_a_frame")
        try:
            raise ValueError(batch.name)
        except ValueError as error:
            again = error
        return again.args
    fails()


@way
def cycle_that_is_held():
    module = Module(tensor=Tensor("cycle_that_is_held"))
    module.me = module
    globals()["holds_a_cycle"] = [module]


def all_tensors():
    return {thing.name: thing for thing in gc.get_objects() if type(thing) is Tensor}


def main():
    below = Tensor("local_of_a_caller")
    print("ready", flush=True)
    said = json.loads(sys.stdin.readline())
    print(json.dumps(truth_of(said, all_tensors())), flush=True)
    sys.stdin.readline()
    freed.clear()
    gc.collect()
    print(json.dumps(freed), flush=True)
    sys.stdin.read()
    del below


gc.disable()
first = allocate("first")  # the simulated device's memory begins there, so the driver has this address too
for plant in ways.values():
    plant()
wipe(60)
main()
