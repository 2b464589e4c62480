# tests/e2e/live/top_test.py — the live view of a program, as text and on a terminal.
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import unittest

from live import VRAMSCOPE, LiveTest, simulated_only


@simulated_only
class Top(LiveTest):
    def test_once_is_one_look_as_plain_text(self):
        process = self.start()
        self.tell(process, "hold 1048576 5", "drop 2", "host 4096 1")
        done = self.live("top", process.pid, "--once")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn(f"live (process {process.pid}), up ", done.stdout)
        self.assertIn("  holds       3 MiB in 3 blocks, host 4 KiB in 1 block\n", done.stdout)
        self.assertIn("  peak        5 MiB requested, host 4 KiB\n", done.stdout)
        self.assertIn("       3 MiB         3  cuMemAlloc  hold(", done.stdout)

    def test_all_programs_of_the_user(self):
        first, second = self.start(), self.start()
        self.tell(first, "hold 1048576 3")
        self.tell(second, "hold 2097152 1")
        shown = self.live("top", "--once").stdout
        for process in (first, second):
            self.assertIn(f"live (process {process.pid}), up ", shown)

    def test_follows_until_the_program_ends(self):
        process = self.start()
        self.tell(process, "hold 1048576 1")
        top = self.following(process)
        self.wait_for(top.stdout, "holds       1 MiB in 1 block")
        self.tell(process, "hold 2097152 2", "churn 500 2")
        self.wait_for(top.stdout, "holds       5 MiB in 3 blocks")
        self.tell(process, "drop 1")
        self.wait_for(top.stdout, "holds       3 MiB in 2 blocks")
        self.end(process)
        self.wait_for(top.stdout, f"live (process {process.pid}) has ended, after")
        rest = top.stdout.read()
        self.assertIn("  peak        5 MiB requested\n", rest)
        self.assertEqual(top.wait(timeout=60), 0)

    def following(self, process):
        top = subprocess.Popen([VRAMSCOPE, "top", str(process.pid), "--interval", "0.1"], stdout=subprocess.PIPE,
                               text=True, env=self.environment())
        self.addCleanup(top.stdout.close)
        self.addCleanup(top.kill)
        return top

    def wait_for(self, stream, words):
        for line in stream:
            if words in line:
                return
        self.fail(f"never shown: {words}")

    def test_what_was_done_wrong_is_told(self):
        process = self.start()
        self.tell(process, "hold 1048576 2", "drop 1")
        self.assertNotIn("Wrong", self.live("top", process.pid, "--once").stdout)
        self.tell(process, "twice 2")
        shown = self.live("top", process.pid, "--once").stdout
        self.assertIn("  WRONG FREES: 2 calls, the first a double-free, at free_again", shown)
        self.assertNotIn("never allocated", shown)

    def test_what_is_done_wrong_later_is_told_too(self):
        process = self.start()
        self.tell(process, "hold 1048576 3", "drop 1", "twice 1")
        top = self.following(process)
        self.wait_for(top.stdout, "WRONG FREES: 1 call, ")
        self.tell(process, "drop 1", "twice 2")
        self.wait_for(top.stdout, "WRONG FREES: 3 calls, ")
        self.end(process)
        self.assertIn("WRONG FREES: 3 calls, ", top.stdout.read())
        self.assertEqual(top.wait(timeout=60), 0)

    def test_count_ends_it(self):
        process = self.start()
        self.tell(process, "hold 1048576 1")
        shown = self.live("top", process.pid, "--interval", "0.1", "--count", "3").stdout
        self.assertEqual(shown.count("(process "), 3)

    def test_wrong_intervals(self):
        process = self.start()
        self.tell(process, "hold 1048576 1")
        for interval in ["0", "-1", "nan", "1e9"]:
            self.assert_refused("top", process.pid, "--interval", interval, words="--interval", status=125)


@simulated_only
class TopOnATerminal(LiveTest):
    ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"

    def on_terminal(self, *arguments, size=(24, 80), **env):
        try:
            ours, theirs = pty.openpty()
        except OSError as problem:  # a container without /dev/pts
            self.skipTest(f"no terminal can be made here: {problem}")
        self.resize(theirs, size)
        self.before = termios.tcgetattr(theirs)

        def own_the_terminal():
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        top = subprocess.Popen([VRAMSCOPE, "top", *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs,
                               preexec_fn=own_the_terminal, env=self.environment(**{"TERM": "xterm", **env}))
        self.addCleanup(top.wait)
        self.addCleanup(top.kill)
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        self.shown, self.terminal, self.slave = "", ours, theirs
        return top

    def resize(self, terminal, size):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def see(self, words):
        """Reads on until the words are shown, and forgets what was before them."""
        while words not in self.shown:
            ready, _, _ = select.select([self.terminal], [], [], 60)
            self.assertTrue(ready, f"not shown for a minute: {words!r}, but: {self.shown!r}")
            self.shown += os.read(self.terminal, 65536).decode(errors="replace")
        before, _, self.shown = self.shown.partition(words)
        return before

    def assert_given_back(self, top, status=0):
        self.see(self.LEAVE)
        self.see("allocated by")  # what was seen last stays
        self.assertEqual(top.wait(timeout=60), status)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)

    def busy(self):
        process = self.start()
        self.tell(process, "hold 1048576 3")
        return process

    def test_is_drawn_in_place_and_ends_by_key(self):
        process = self.busy()
        top = self.on_terminal(process.pid, "--interval", "0.1")
        self.see(self.ENTER)
        self.see("3 MiB in 3 blocks")
        self.tell(process, "hold 1048576 1")
        self.assertIn("\x1b[H", self.see("4 MiB in 4 blocks"))
        os.write(self.terminal, b"xq")
        self.assert_given_back(top)

    ARROW_DOWN, ARROW_RIGHT, ENTER_KEY, ESCAPE_KEY = b"\x1b[B", b"\x1bOC", b"\r", b"\x1b"

    def press(self, keys, words):
        os.write(self.terminal, keys)
        return self.see(words)

    def frame(self, keys=b""):
        """The next whole frame that is drawn, after the keys."""
        os.write(self.terminal, keys)
        self.see("\x1b[H")
        return self.see("\x1b[J")

    def test_keys_choose_open_sort_and_find_call_stacks(self):
        process = self.start()
        self.tell(process, "hold 1048576 3", "host 4096 1")
        top = self.on_terminal(process.pid, "--interval", "600", NO_COLOR="1")
        self.see(">      3 MiB")
        self.press(self.ARROW_DOWN, ">      4 KiB")
        frame = self.frame(self.ENTER_KEY)
        self.assertIn("4 KiB in 1 block by ", frame)
        self.assertIn(" main ", frame)
        self.press(b"s", ", by growth")
        self.press(b"s", ", by rate")
        self.press(b"/", "/_")
        self.press(b"hold(q", "/hold(q_")  # a letter of the text, and no wish to quit
        self.press(b"\x7f", "/hold(_")
        frame = self.frame(self.ENTER_KEY)
        self.assertIn(", with /hold(", frame)
        self.assertIn(">      3 MiB", frame)
        self.assertNotIn(" 4 KiB         1 ", frame)
        self.press(self.ESCAPE_KEY, " 4 KiB         1 ")
        self.press(b"?", "choose a program")
        self.press(b"?", "allocated by")
        os.write(self.terminal, b"q")
        self.assert_given_back(top)

    def test_a_long_log_is_shown_while_it_is_read(self):
        process = self.start()
        self.tell(process, "hold 1048576 3", "churn 2000000 2")
        self.on_terminal(process.pid, "--interval", "600", NO_COLOR="1")
        begun = self.see(" % of its log is read: this is what it held at ")
        self.assertNotIn("events/s", begun)
        self.see(" frees/s")  # once all is read
        self.assertNotIn(" of its log is read", self.frame(b"s"))

    def test_one_of_several_programs_is_chosen(self):
        mine = [self.start(), self.start()]
        for process in mine:
            self.tell(process, "hold 1048576 3")
        self.on_terminal("--interval", "600", NO_COLOR="1", size=(60, 80))
        frame = self.see("\x1b[J")
        unseen = {f"(process {process.pid}), up " for process in mine}
        for _ in range(100):  # other tests may have programs of this user too
            unseen = {head for head in unseen if head not in frame}
            if not unseen:
                break
            frame = self.frame(self.ARROW_RIGHT)
        self.assertEqual(unseen, set())

    def test_ends_by_signals_from_the_keyboard_and_from_others(self):
        process = self.busy()
        for end in (lambda top: os.write(self.terminal, b"\x03"), lambda top: top.terminate(),
                    lambda top: top.send_signal(signal.SIGHUP)):
            top = self.on_terminal(process.pid, "--interval", "60")
            self.see("q quits")
            end(top)
            self.assert_given_back(top)

    def test_ends_with_the_program_and_says_so(self):
        process = self.busy()
        top = self.on_terminal(process.pid, "--interval", "0.1")
        self.see("3 MiB in 3 blocks")
        self.end(process)
        self.see(self.LEAVE)
        self.see("has ended, after")
        self.assertEqual(top.wait(timeout=60), 0)

    def test_a_new_size_is_drawn_at_once(self):
        process = self.busy()
        self.on_terminal(process.pid, "--interval", "600", size=(24, 80))
        self.see("\x1b[J")
        self.resize(self.terminal, (6, 24))
        frame = self.see("\x1b[J")
        self.assertIn("q quits", frame)
        self.assertTrue(all(len(line.split("\x1b[K")[0].replace("\x1b[H", "").replace("\x1b[1m", "")
                                .replace("\x1b[0m", "")) <= 24 for line in frame.split("\r\n")), frame)

    def test_colours_are_not_forced_on_anyone(self):
        process = self.busy()
        self.on_terminal(process.pid, "--interval", "600", NO_COLOR="1")
        self.assertNotIn("\x1b[1m", self.see("q quits"))
        self.on_terminal(process.pid, "--interval", "600")
        self.assertIn("\x1b[1m", self.see("q quits"))

    def test_a_dumb_terminal_gets_plain_text(self):
        process = self.busy()
        top = self.on_terminal(process.pid, "--interval", "0.1", "--count", "2", **{"TERM": "dumb"})
        self.assertNotIn("\x1b", self.see("allocated by") + self.see("allocated by"))
        self.assertEqual(top.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
