# tests/programs/python/chain_judge.py — whether a chain is true, by what gc.get_referrers says of each step.
#
# A chain ends with a Tensor (kept.py), which leads to its block. Each step is looked for among what the collector says
# refers to the step behind it, and is called as vramscope calls it.
import collections
import gc
import re
import sys
import types


def steps_of(chain):
    """Without the last ones, which lead from the object to its block; a step that is there many times is many."""
    steps = []
    for step in chain:
        again = re.fullmatch(r"(.*), (\d+) times", step)
        steps += [again[1]] * int(again[2]) if again else [step]
    if len(steps) < 3 or steps[-2] != "c_void_p":
        return []
    steps = steps[:-2]
    if not steps[-1].endswith("Tensor.impl"):
        return []
    return steps[:-1]


def names_of(type_):
    return {type_.__name__, "%s.%s" % (type_.__module__, type_.__name__)}


def said_of(holder, held):
    """What a chain may call the step from a holder to what it holds, and what that holder is then."""
    if isinstance(holder, types.FrameType):
        names = {holder.f_code.co_name, getattr(holder.f_code, "co_qualname", "")}
        yield from (("frame of `%s`" % name, holder) for name in names)
    elif isinstance(holder, types.FunctionType):
        yield "function `%s`" % holder.__qualname__, holder
    elif isinstance(holder, (types.GeneratorType, types.CoroutineType)):
        yield "%s `%s`" % (type(holder).__name__, holder.__qualname__), holder
    elif isinstance(holder, type):
        yield "class `%s`" % holder.__name__, holder
    elif isinstance(holder, (list, tuple, dict, collections.deque)):
        for name in names_of(type(holder)):
            yield "%s of %d" % (name.replace("collections.deque", "deque"), len(holder)), holder
        if isinstance(holder, dict):
            yield from of_attributes(holder, held)
    else:
        for name in names_of(type(holder)):
            yield name, holder
            for key, value in getattr(holder, "__dict__", {}).items():
                if value is held:
                    yield "%s.%s" % (name, key), holder


def of_attributes(variables, held):
    keys = [key for key, value in variables.items() if value is held]
    for owner in gc.get_referrers(variables):
        if isinstance(owner, types.ModuleType) and owner.__dict__ is variables:
            yield from (("variable `%s` of module `%s`" % (key, owner.__name__), None) for key in keys)
        elif isinstance(owner, type) and variables.get("__module__", 0) == owner.__module__:
            yield from (("class `%s`.%s" % (owner.__name__, key), owner) for key in keys)
        elif getattr(owner, "__dict__", None) is variables:
            yield from (("%s.%s" % (name, key), owner) for key in keys for name in names_of(type(owner)))


def locals_said(held):
    for ident, frame in sys._current_frames().items():
        while frame:
            names = {frame.f_code.co_name, getattr(frame.f_code, "co_qualname", "")}
            for key, value in frame.f_locals.items():
                if value is held and frame.f_code.co_name != "<module>":
                    yield from ("local `%s` of `%s` in thread N" % (key, name) for name in names)
            frame = frame.f_back


# Some versions say of what has these that it has what they have.
TRANSPARENT = {"functools._lru_list_elem"}


def is_true(chain, leaf):
    steps = steps_of(chain)
    if not steps:
        return False
    now = [leaf]
    for number, step in reversed(list(enumerate(steps))):
        if number == 0 and any(step in locals_said(held) for held in now):
            return True
        then = list(now) if step in TRANSPARENT else []
        for held in now:
            for holder in gc.get_referrers(held):
                if holder is now or holder is then:
                    continue
                for text, owner in said_of(holder, held):
                    if text == step:
                        if number == 0:
                            return owner is None  # a module's variable
                        then.append(owner)
        now = then
    return False


def truth_of(said, leaves):
    """{name: whether each of its chains is true}, of the leaves that are there. In a call of its own: a frame whose locals
    were asked for keeps them."""
    return {name: [is_true(chain, leaves[name]) for chain in chains] for name, chains in said.items() if name in leaves}
