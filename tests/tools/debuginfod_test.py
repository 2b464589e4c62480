#!/usr/bin/env python3
# tests/tools/debuginfod_test.py — names from a server of debug information,
# asked only with --debuginfod.
#
# elfutils' own server answers, and one of this test, which tells what it was asked and can err.
import ctypes
import http.server
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

from cli import PROGRAMS, CliTest

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path(os.environ.get("HOME", "/")) / ".cache")


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path)
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


class StrippedProgram(CliTest):
    """The program has no debug information and no symbols; `debug` has both."""

    def setUp(self):
        super().setUp()
        try:
            ctypes.CDLL("libdebuginfod.so.1")
        except OSError:
            self.skipTest("there is no libdebuginfod.so.1 here")
        program = self.folder / "train"
        shutil.copy(PROGRAMS / "training_demo", program)
        for command in ("objcopy", "--only-keep-debug", program, "train.debug"), ("strip", program):
            self.assertEqual(self.execute(*command).returncode, 0)
        status, _, errors = self.simulate(program, "2")
        self.assertEqual(status, 0, errors)
        notes = self.execute("readelf", "-n", program).stdout
        self.path = f"/buildid/{re.search(r'Build ID: ([0-9a-f]+)', notes)[1]}/debuginfo"
        self.debug = (self.folder / "train.debug").read_bytes()
        (self.folder / "train.debug").unlink()  # the program names it, and it would be found beside it

    def ask_at(self, port):
        self.env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{port}", "DEBUGINFOD_CACHE_PATH": str(self.folder / "cache"),
                    "DEBUGINFOD_TIMEOUT": "20", "no_proxy": "127.0.0.1"}

    def leaks(self, *options, status=0, **env):
        found, stdout, stderr = self.vramscope("leaks", *options, "run.vsl", env={**self.env, **env})
        self.assertEqual(found, status, stderr)
        return stdout if status == 0 else stderr


class ElfutilsTest(StrippedProgram):
    """Its server finds files by itself, in a folder that it is given."""

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(os.environ.get("VRAMSCOPE_DEBUGINFOD") or CACHE / "vramscope" / "debuginfod")
        program = shutil.which("debuginfod", path=f"{os.environ['PATH']}{os.pathsep}{folder}")
        if not program:
            self.skip("there is no debuginfod here (./scripts/setup --tests)")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (self.folder / "served").mkdir()
        server = subprocess.Popen([program, "--port", str(port), "--database", ":memory:", "--rescan-time", "1", "-F", "served"],
                                  cwd=self.folder, env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.server = server
        self.ask_at(port)

    def skip(self, why):
        print(f"SKIPPED: {why}")
        self.skipTest(why)

    def wait_for(self, status):
        """Until the server answers so when it is asked for the file."""
        ask = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(600):
            self.assertIsNone(self.server.poll(), "it ended")
            try:
                found = ask.open(self.env["DEBUGINFOD_URLS"] + self.path).status
            except urllib.error.HTTPError as error:
                found = error.code
            except OSError:
                found = None  # it does not listen yet
            if found == status:
                return
            time.sleep(0.1)
        self.fail(f"the server did not answer {status} in a minute")

    def test_has_the_names(self):
        (self.folder / "served" / "train.debug").write_bytes(self.debug)
        self.wait_for(200)
        text = self.leaks("--debuginfod")
        self.assertIn("log_loss", text)
        self.assertRegex(text, r"training_demo\.cu:\d+")

    def test_has_nothing(self):
        self.wait_for(404)
        self.assertEqual(self.leaks("--debuginfod"), self.leaks())


class DebuginfodTest(StrippedProgram):
    """A server of this test has the names."""

    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.files = self.files = {self.path: self.debug}
        server.asked = self.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.ask_at(server.server_port)

    def test_names_what_is_not_here(self):
        text = self.leaks("--debuginfod")
        self.assertIn("log_loss", text)
        self.assertRegex(text, r"training_demo\.cu:\d+")
        self.assertIn(self.path, self.asked)

    def test_asks_nobody_unless_it_is_told_to(self):
        self.assertNotIn("log_loss", self.leaks())
        self.assertEqual(self.asked, [])

    def test_a_server_that_has_nothing_changes_nothing(self):
        plain = self.leaks()
        self.assertEqual(self.leaks("--debuginfod", DEBUGINFOD_URLS=self.env["DEBUGINFOD_URLS"] + "/nothing"), plain)
        self.assertTrue(self.asked)

    def test_a_file_of_another_build_is_not_believed(self):
        content = bytearray(self.files[self.path])
        at = content.find(bytes.fromhex(self.path.split("/")[2]))
        content[at] ^= 1
        self.files[self.path] = bytes(content)
        self.assertNotIn("log_loss", self.leaks("--debuginfod"))

    def test_names_written_into_the_log_stay_without_the_server(self):
        self.assertEqual(self.vramscope("symbolize", "--debuginfod", "run.vsl", env=self.env)[0], 0)
        asked = len(self.asked)
        self.assertIn("log_loss", self.leaks())
        self.assertEqual(len(self.asked), asked)

    def test_without_a_server_it_is_wrong_usage(self):
        self.assert_one_line(self.leaks("--debuginfod", status=125, DEBUGINFOD_URLS=""), "DEBUGINFOD_URLS")


class WithoutTheLibrary(CliTest):
    def test_the_packages_to_install_are_named(self):
        (self.folder / "libdebuginfod.so.1").touch()  # the loader finds it first, and it is no library
        env = {"DEBUGINFOD_URLS": "http://127.0.0.1:9", "LD_LIBRARY_PATH": str(self.folder)}
        status, _, errors = self.vramscope("leaks", "--debuginfod", "run.vsl", env=env)
        self.assertEqual(status, 125)
        self.assert_one_line(errors, "--debuginfod: libdebuginfod.so.1 of elfutils is not installed "
                                     "(Debian 12: libdebuginfod1; 13: libdebuginfod1t64)")


if __name__ == "__main__":
    unittest.main()
