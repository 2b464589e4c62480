# tools/python/vramscope/_pages.py — a report's page for a browser, as notebooks show it.
"""A page that the command made."""
import html
import os
from typing import Sequence

from ._command import ask

_BEGINNING = b"<!doctype html>"


class Page:
    """One page, which loads nothing. A notebook shows it in its place; ``html`` is its text."""

    def __init__(self, arguments: Sequence[str], height: int = 720) -> None:
        self.html = ask([*arguments, "--html", "-"]).decode("utf-8")
        self.height = height  # of its frame in a notebook, in pixels

    def __repr__(self) -> str:
        return "<vramscope.Page of {:.0f} KiB: a notebook shows it, save(\"page.html\") writes it>".format(len(self.html) / 1024)

    def _repr_html_(self) -> str:
        return ('<iframe title="vramscope" srcdoc="{}" style="width: 100%; height: {}px; border: 0"></iframe>'
                .format(html.escape(self.html), self.height))

    def save(self, path: str) -> None:
        """Writes it. A file that is there is replaced only if it is a page, too."""
        if os.path.lexists(path) and not _is_page(path):
            raise FileExistsError("{} is there, is no page, and is kept".format(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)


def _is_page(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING
