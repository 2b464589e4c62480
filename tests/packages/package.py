# tests/packages/package.py — an installation for the tests of this folder, as `cmake --install
# --strip` makes it.
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from program_test import BUILD, PROGRAMS, SOURCE, ProgramTest  # noqa: E402, F401

DEMO = PROGRAMS / "training_demo"


class PackageTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name) / "some-where"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix, "--strip"], check=True, capture_output=True)

    def assert_traces(self, command):
        """The demo program leaks as README.md says, and is named by the installation's own files."""
        done = self.execute(command, "run", "--simulate", "1GiB", "--force", "-o", "demo.vsl", DEMO)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("LEAKS: 17.7 MiB in 101 blocks were not freed, from 2 call stacks", done.stderr)
