# tools/python/vramscope/ending/sitecustomize.py — when a program's work is done, for `run --reach`.
"""Python imports this when it starts, since `run --reach` puts its folder first on PYTHONPATH.

The folder leaves sys.path again at once, and the program's own sitecustomize runs as if this one were not there.
What it registers runs after all that the program registers itself, and before Python takes modules down.
"""
import atexit
import os
import sys


def _work_is_done():
    try:
        import ctypes
        ctypes.CDLL(None).vramscope_work_is_done()
    except Exception:
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


atexit.register(_work_is_done)
_run_the_programs_own()
