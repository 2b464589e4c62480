# tests/tools/source_options_test.py — --source-url and --source: what a page tells of the program's sources.
import json
import re
import unittest

from cli import PROGRAMS, SOURCE, CliTest

URL = "https://host/me/app/blob/main/{file}#L{line}"
FAULTS = {
    "javascript:alert(1)//{file}": "it must begin with https://",
    "javascript://host/%0aalert(1)//{file}": "it must begin with https://",
    "data:text/html,{file}": "it must begin with https://",
    "HTTPS://host/{file}": "it must begin with https://",
    "https": "it must begin with https://",
    "{file}": "it must begin with https://",
    "https://{file}": "the name of a host and a / must come first",
    "https://host{file}/": "the name of a host and a / must come first",
    "https:///{file}": "the name of a host and a / must come first",
    "https://host": "the name of a host and a / must come first",
    "https://host/{file} {line}": "write other characters than those of addresses as %20",
    "https://host/\"onclick=\"{file}": "write other characters than those of addresses as %20",
    "https://host/" + "x" * 1000 + "{file}": "write other characters than those of addresses as %20",
    "https://host/{file}/{column}": "in braces only {file}, {path} and {line} may stand",
    "https://host/{line}": "it needs {file}",
}


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])


class SourceOptionsTest(CliTest):
    def setUp(self):
        super().setUp()
        if not self.has_pages():
            self.skipTest("built without pages")

    def page_of(self, *options, command=("report",), ends=0):
        page = self.folder / "page.html"
        status, _, stderr = self.vramscope(*command, "-f", "--html", page, *options, "run.vsl")
        self.assertEqual((status, stderr), (ends, f"vramscope: page: {self.folder}/page.html\n"))
        return data_of(page)

    def trace(self):
        self.vramscope("run", "--simulate", "1GiB", "-o", "run.vsl", PROGRAMS / "training_demo", "2")

    def test_an_address_that_a_page_must_not_have_is_refused_in_one_line(self):
        for url, fault in FAULTS.items():
            with self.subTest(url):
                status, _, stderr = self.vramscope("report", "--html", "page.html", "--source-url", url, "none.vsl")
                self.assertEqual(status, 125)
                self.assert_one_line(stderr, fault)

    def test_a_page_has_the_address_and_the_folder_of_the_repository(self):
        self.trace()
        (self.folder / ".git").mkdir()
        for url in (URL, "vscode://file/{path}:{line}", "idea://open?file={path}&line={line}"):
            data = self.page_of("--source-url", url)
            self.assertEqual((data["source_url"], data["source_root"]), (url, f"{self.folder.resolve()}/"))
        self.assertNotIn("source_url", self.page_of())

    def test_a_project_says_it_once(self):
        self.trace()
        (self.folder / ".vramscope").write_text(f"source-url {URL}\n")
        (self.folder / ".vramscope").chmod(0o644)
        self.assertEqual(self.page_of()["source_url"], URL)
        self.assertEqual(self.page_of("--source-url", "vscode://file/{path}")["source_url"], "vscode://file/{path}")
        (self.folder / ".vramscope").write_text("source-url javascript:{file}\n")
        status, _, stderr = self.vramscope("report", "run.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, ".vramscope: source-url 'javascript:{file}': it must begin with")

    def test_both_are_of_a_page(self):
        for option in (("--source-url", URL), ("--source",)):
            status, _, stderr = self.vramscope("report", *option, "run.vsl")
            self.assertEqual(status, 125)
            self.assert_one_line(stderr, f"{option[0]} requires --html")

    def test_lines_of_the_sources_are_on_the_page_where_they_are_here(self):
        self.trace()
        text = (SOURCE / "tests" / "programs" / "training_demo.cu").read_text()
        data = self.page_of("--source")
        for number in data["sources"]["columns"]["lines"][0]["texts"]:
            self.assertIn(data["strings"][number], text)
        self.assertNotIn("sources", self.page_of())
        self.assertNotIn("sources", self.page_of("--source", "--path-map", f"{SOURCE}/tests/programs={self.folder}"))

    def test_every_command_that_writes_a_page_has_them(self):
        self.trace()
        for command, ends in ((("check",), 100), (("leaks",), 0), (("plan",), 0), (("diff", "run.vsl"), 0)):
            with self.subTest(command):
                data = self.page_of("--source", "--source-url", URL, command=command, ends=ends)
                self.assertEqual((data["source_url"], "sources" in data), (URL, True))
        page = self.folder / "run.html"
        self.vramscope("run", "--simulate", "1GiB", "-o", "again.vsl", "--html", page, "--source", "--source-url", URL,
                       PROGRAMS / "training_demo", "2")
        self.assertEqual((data_of(page)["source_url"], "sources" in data_of(page)), (URL, True))


if __name__ == "__main__":
    unittest.main()
