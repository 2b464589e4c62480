# tools/python/vramscope/__main__.py — is the tracer here?
"""`python3 -m vramscope` says whether this process is traced, and by which version; it ends 0 if so, else 1."""
import sys

import vramscope

if vramscope.version():
    print("vramscope {} traces this process".format(vramscope.version()))
else:
    print("vramscope does not trace this process. Start it with: vramscope run python3 PROGRAM")
sys.exit(0 if vramscope.version() else 1)
