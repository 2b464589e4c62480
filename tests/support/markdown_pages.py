# tests/support/markdown_pages.py — the pages of this tree: every file of Markdown that is
# not built or fetched.
import os
import pathlib

BUILT = {".git", "build", "node_modules"}


def pages(root):
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - BUILT)
        found += [pathlib.Path(folder, name) for name in sorted(files) if name.endswith(".md")]
    return found
