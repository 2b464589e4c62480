#!/usr/bin/env python3
# tests/scripts/links_test.py — each link of this tree's pages leads to something: file or heading.
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from markdown_pages import pages  # noqa: E402

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)\)")


def without_code(text):
    """What a reader sees as text: neither blocks of code nor what stands between backquotes."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page):
    """The names by which links reach the headings of a page, as GitHub makes them of the headings' words."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?)\s*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = sum(1 for other in found if re.fullmatch(re.escape(name) + r"(-\d+)?", other))
        found.add(f"{name}-{count}" if count else name)
    return found


def dead_links(root):
    dead = []
    for page in pages(root):
        for link in LINK.findall(without_code(page.read_text())):
            if ELSEWHERE.match(link):
                continue  # these are not ours to hold, and a test asks no server
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.is_relative_to(root.resolve()) or not target.exists():
                dead.append(f"{page.relative_to(root)}: {link}: there is no such file")
            elif anchor and (target.suffix != ".md" or anchor not in anchors(target)):
                dead.append(f"{page.relative_to(root)}: {link}: there is no such heading")
    return dead


class Links(unittest.TestCase):
    def test_each_link_of_this_tree_leads_to_something(self):
        self.assertGreater(len(pages(ROOT)), 20)
        self.assertEqual(dead_links(ROOT), [])

    def dead_links_of(self, **texts):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for page, text in texts.items():
                (folder / f"{page}.md").write_text(text)
            return dead_links(folder)

    def test_a_file_that_is_not_there_is_named(self):
        self.assertEqual(self.dead_links_of(a="[one](b.md) and [two](c.md), [three](https://example.org/d.md)", b=""),
                         ["a.md: c.md: there is no such file"])

    def test_a_file_outside_the_tree_is_not_there(self):
        self.assertEqual(self.dead_links_of(a="[one](../..)"), ["a.md: ../..: there is no such file"])

    def test_a_heading_that_is_not_there_is_named(self):
        self.assertEqual(self.dead_links_of(a="# It: `runs`, _fast_\n## Twice\n## Twice\n[1](#it-runs-_fast_) [2](#twice-1) [3](#twice-2) [4](b.md#two)",
                                            b="# One\n```\n# two\n```\n"),
                         ["a.md: #twice-2: there is no such heading", "a.md: b.md#two: there is no such heading"])

    def test_what_stands_in_code_is_no_link(self):
        self.assertEqual(self.dead_links_of(a="`[one](b.md)`\n```\n[two](c.md)\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
