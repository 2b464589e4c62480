# tools/python/vramscope/_command.py — the command line, asked from Python.
"""Where the ``vramscope`` command is, and what it answers."""
import os
import shutil
import subprocess
from typing import IO, Dict, Optional, Sequence

from . import CommandError


def find() -> Optional[str]:
    """Beside this module: it is in lib/vramscope/python/vramscope, or in lib/python3.N/site-packages/vramscope of a
    wheel, beside which there is bin. Else on PATH."""
    folder = os.path.abspath(__file__)
    for _ in range(5):
        folder = os.path.dirname(folder)
    beside = os.path.join(folder, "bin", "vramscope")
    return beside if os.access(beside, os.X_OK) else shutil.which("vramscope")


def _environment() -> Dict[str, str]:
    """The program's, without what would trace the command itself."""
    return {name: value for name, value in os.environ.items()
            if name not in ("LD_PRELOAD", "LD_AUDIT")
            and (not name.startswith("VRAMSCOPE_") or name == "VRAMSCOPE_SUPPRESSIONS")}


def ask(arguments: Sequence[str], folder: Optional[str] = None, into: Optional[IO[bytes]] = None) -> bytes:
    """What the command prints, unless it goes into a file. CommandError, with its own line, if it does not end 0."""
    executable = find()
    if executable is None:
        raise CommandError("there is no vramscope command beside this module ({}), nor on PATH: "
                           "install the package or the wheel".format(os.path.dirname(os.path.abspath(__file__))), 127)
    done = subprocess.run([executable, *arguments], cwd=folder, env=_environment(), stdin=subprocess.DEVNULL,
                          stdout=into or subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        line = lines[-1] if lines else "vramscope ended with {}".format(done.returncode)
        raise CommandError(line.replace("vramscope: error: ", "", 1), done.returncode)
    return done.stdout or b""
