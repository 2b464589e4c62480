#!/usr/bin/env python3
# tests/tools/debuginfod_test.py — names from a server of debug information, asked only with --debuginfod.
import ctypes
import http.server
import re
import shutil
import threading
import unittest

from cli import PROGRAMS, CliTest


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


class DebuginfodTest(CliTest):
    """The program has no debug information and no symbols; a server of this test has both."""

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
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.files = {self.path: (self.folder / "train.debug").read_bytes()}
        server.asked = self.asked = []
        self.files = server.files
        (self.folder / "train.debug").unlink()  # the program names it, and it would be found beside it
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}", "DEBUGINFOD_CACHE_PATH": str(self.folder / "cache"),
                    "DEBUGINFOD_TIMEOUT": "20", "no_proxy": "127.0.0.1"}

    def leaks(self, *options, status=0, **env):
        found, stdout, stderr = self.vramscope("leaks", *options, "run.vsl", env={**self.env, **env})
        self.assertEqual(found, status, stderr)
        return stdout if status == 0 else stderr

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


if __name__ == "__main__":
    unittest.main()
