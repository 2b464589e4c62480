# tests/report/old_logs_test.py — logs of older builds still give the same reports, byte for byte.
#
# tests/golden/old_logs has them: NAME.vsl.gz is a log (NAME.1.vsl.gz and NAME.2.vsl.gz are two of
# one job; those of log format 4 are called NAME_4, all others are of 3.2), NAME.txt is what the
# views for readers print of it, and NAME.json.gz what is written for programs. The first may change
# with the words of a report; the second must not change at all.
# VRAMSCOPE_UPDATE_GOLDEN=1 writes what is printed now; then read the difference.
import difflib
import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

VRAMSCOPE = pathlib.Path(os.environ.get("VRAMSCOPE_BUILD", "build/dev")).resolve() / "bin" / "vramscope"
LOGS = pathlib.Path(__file__).parents[1] / "golden" / "old_logs"
UPDATE = "VRAMSCOPE_UPDATE_GOLDEN" in os.environ
VIEWS = ["report", "leaks", "peak", "frag", "timeline", "churn", "check"]


def scenes():
    """The logs of each scene."""
    found = {}
    for path in sorted(LOGS.glob("*.vsl.gz")):
        found.setdefault(path.name.split(".")[0], []).append(path)
    return found


class OldLogsTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.plain = {name: value for name, value in os.environ.items()
                      if not name.startswith(("VRAMSCOPE", "DEBUGINFOD", "LC_", "LANG"))}

    def printed(self, *arguments, warnings=True):
        """What it prints, and with which status it ends; a warning is for readers."""
        done = subprocess.run([VRAMSCOPE, *arguments], cwd=self.folder, capture_output=True, timeout=60,
                              env={**self.plain, "NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C", "XDG_CACHE_HOME": os.devnull})
        output = done.stdout
        if output.startswith(b"\x1f\x8b"):  # what gzip makes of it goes with the version of zlib
            output = gzip.decompress(output)
        text = output.decode("latin-1" if "pprof" in arguments else "utf-8")
        if "--json" in arguments and text:  # a line for each member, so that differences can be read
            text = json.dumps(json.loads(text), indent=2) + "\n"
        said = "".join(line for line in done.stderr.decode().splitlines(keepends=True)
                       if warnings or not line.startswith("vramscope: warning: "))
        return f"{text}[ends {done.returncode}] {said}".rstrip() + "\n"

    def texts(self, logs):
        commands = [(view, *logs) for view in VIEWS]
        if len(logs) == 2:
            commands.append(("diff", *logs))
        return {" ".join(command): self.printed(*command) for command in commands}

    def documents(self, logs):
        commands = [("report", "--pool-blocks", "--json", "-", *logs), ("report", "--all-frames", "--json", "-", *logs),
                    ("check", "--json", "-", "--max-growth", "0/step", *logs)]
        if len(logs) == 2:
            commands.append(("diff", "--json", "-", *logs))
        else:
            commands += [("export", "--to", format, *logs) for format in ("jsonl", "heaptrack", "pprof")]
        return {" ".join(command): self.printed(*command, warnings=False) for command in commands}

    def assert_same(self, expected, printed):
        difference = difflib.unified_diff(expected.splitlines(), printed.splitlines(), "then", "now", lineterm="", n=1)
        self.assertEqual("\n".join([*difference][:60]), "")

    def check_scene(self, name, paths):
        logs = [path.name.removesuffix(".gz") for path in paths]
        for path, log in zip(paths, logs):
            (self.folder / log).write_bytes(gzip.decompress(path.read_bytes()))
        text = "".join(f"==== vramscope {command}\n{printed}\n" for command, printed in self.texts(logs).items())
        documents = self.documents(logs)
        if UPDATE:
            (LOGS / f"{name}.txt").write_text(text)
            packed = json.dumps(documents, indent=1, ensure_ascii=False).encode()
            (LOGS / f"{name}.json.gz").write_bytes(gzip.compress(packed, mtime=0))
        self.assert_same((LOGS / f"{name}.txt").read_text(), text)
        expected = json.loads(gzip.decompress((LOGS / f"{name}.json.gz").read_bytes()))
        self.assertEqual(list(expected), list(documents))
        for command, printed in documents.items():
            with self.subTest(command=command):
                self.assert_same(expected[command], printed)

    def test_old_logs_give_the_same_reports(self):
        self.assertGreater(len(scenes()), 10)
        for name, paths in scenes().items():
            with self.subTest(scene=name):
                self.check_scene(name, paths)


if __name__ == "__main__":
    unittest.main()
