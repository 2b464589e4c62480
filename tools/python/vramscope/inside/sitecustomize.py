# tools/python/vramscope/inside/sitecustomize.py — CuPy without its pools, for `run --inside`.
"""Python imports this when it starts, since `run --inside` puts its folder first on PYTHONPATH.

The folder leaves sys.path again at once, and the program's own sitecustomize runs as if this one were not there.
Whatever goes wrong here passes in silence, and the program runs as it would without --inside.
"""
import os
import sys


def _switch_off(cupy):
    """As CuPy's manual says: before any other of its operations, both pools."""
    try:
        cupy.cuda.set_allocator(None)
        cupy.cuda.set_pinned_memory_allocator(None)
        import ctypes
        ctypes.PyDLL(None).vramscope_bypassed(b"CuPy")  # so that reports name it
    except Exception:
        pass


class _AfterImport:
    """Finds `cupy` as the other finders do, with a loader that calls `_switch_off` once after it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "cupy":
            return None
        for finder in sys.meta_path:
            find = None if finder is _AfterImport else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                _extend(spec.loader)
                return spec
        return None


def _extend(loader):
    load = getattr(loader, "exec_module", None)

    def exec_module(module):
        del loader.exec_module
        load(module)
        _switch_off(module)

    try:
        loader.exec_module = exec_module
    except AttributeError:  # a loader that takes none
        pass


def _run_the_programs_own():
    """A sitecustomize further down on sys.path takes this one's place; what it raises is said by Python as ever."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
    for finder in sys.meta_path:
        spec = finder.find_spec(__name__, None) if hasattr(finder, "find_spec") else None
        if spec is not None and spec.loader is not None:
            import importlib.util
            sys.modules[__name__] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return


sys.meta_path.insert(0, _AfterImport)
_run_the_programs_own()
