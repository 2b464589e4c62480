# tests/report/checkpoint_members_test.py — no member of a replay is forgotten in a checkpoint.
#
# A class says what it consists of in its state() (report/checkpoint/archive.hpp). A member that is
# not there would begin anew behind a checkpoint: a sum that is too small, or a wrong free that was
# never seen. So each member of such a class, and of what it is derived from, is tied by its
# state(), or stands here with the reason why not. Plain structs have no state(): all their members
# are taken.
import pathlib
import re
import unittest

REPORT = pathlib.Path(__file__).resolve().parents[2] / "report"

OTHERS = "what belongs to somebody else"
AGAIN = "rebuild() makes it again, or it is asked for again"
NOW = "as it is told when the reading begins: of the log's header, or of this reading"
BETWEEN = "empty, or of no matter, between two batches and before finish()"
NOT_TIED = {
    "AddressPast": {"of_first_": AGAIN},
    "ChurnCounts": {"clock_": OTHERS},
    "Device": {"changed": BETWEEN, "next_changed": BETWEEN},
    "DeviceMemory": {"tables_": OTHERS, "sites_": OTHERS, "of_ordinal_": AGAIN, "changed_": BETWEEN},
    "GrowthSeries": {"sites_": OTHERS},
    "HeapReplay": {"tables_": OTHERS, "watch_": OTHERS, "pending_": NOW, "births_": NOW, "segment_births_": NOW,
                   "unmapped_": NOW, "refused_piece_": NOW,
                   "in_flight_": BETWEEN},
    "LiveSums": {"exit_began_ticks_": NOW, "last_id_": AGAIN, "last_index_": AGAIN},
    "LogTables": {"find_apis_": OTHERS},
    "LostSums": {"phases_": OTHERS, "since_ticks_": NOW},
    "PeakHolders": {"heap_": OTHERS, "memory_": OTHERS, "thread_": BETWEEN},
    "MisuseReplay": {"tables_": OTHERS, "followed_": "all of them", "latest_": "of the last record"},
    "Phases": {"kind_of_name_": AGAIN},
    "ReadAhead": {"reader_": OTHERS, **dict.fromkeys(
        ["batches_", "mutex_", "changed_", "filled_", "taken_", "done_", "stop_", "ended_", "error_", "thread_",
         "started_"], BETWEEN)},
    "Reading": {"file_": OTHERS, "until_ticks_": NOW, "runs_on_": NOW, "follows_": NOW, "births_": NOW,
                "late_segments_": "in the checkpoint's head", "ahead_": "by ahead()",
                "chunks_before_": AGAIN, "interrupted_": BETWEEN, "fraction_read_": BETWEEN},
    "Replays": {"watches": OTHERS, "with_span_peaks_": OTHERS, "with_site_peaks_": OTHERS,
                "span_peaks": "never: who shows spans reads the whole log"},
    "Segment": {"used_bytes": AGAIN, "gaps": AGAIN, "number": AGAIN, "blocks": "by Segments::kept()"},
    "SegmentReplay": {"tables_": OTHERS, "changed_": BETWEEN, "index_of_device_": AGAIN},
    "Shortages": {"tables_": OTHERS},
    "SitePeaks": {"sites_": OTHERS},
    "Sites": {"recent_": AGAIN, "next_of_hash_": AGAIN, "listed_": AGAIN, "by_hash_": AGAIN, "losses_": BETWEEN,
              "seed_": AGAIN},
    "Steps": {"phases_": OTHERS, "ranges_": AGAIN, "marks_": AGAIN},
    "Tests": {"memory_": OTHERS},
    "WaitingBlocks": {"first_": "state() forgets what stands before it"},
    "WorkEnd": dict.fromkeys(["python_ticks_", "exit_ticks_", "start_ticks_", "pause_ticks_", "pythons_pause_ticks_"],
                             NOW),
}


def classes(text):
    """The name, the bases and the body of each class and struct."""
    for head in re.finditer(r"\b(?:class|struct)\s+(?:alignas\([^{;]*?\)\s+)?(\w+)\s*(?:final\s*)?(:[^{;]*)?\{", text):
        depth, end = 1, head.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield head[1], re.findall(r"\w+", head[2] or ""), text[head.end():end - 1]


def without_inner(body):
    """The body, where each pair of braces is empty."""
    kept, depth = "", 0
    for character in body:
        depth += character == "{"
        if depth == 0 or character + str(depth) in ("{1", "}1"):
            kept += character
        depth -= character == "}"
    return kept


def members(body):
    names = []
    for statement in without_inner(body).split(";"):
        statement = re.sub(r"\b(public|private|protected):|\[\[.*?\]\]", "", statement)
        # What stands before it in the same statement are functions.
        statement = re.split(r"\)(?:\s|const|noexcept|override)*(?::[^{]*)?\{\}", statement)[-1].strip()
        value = re.sub(r"\s*(=.*|\{\})$", "", statement, flags=re.DOTALL)
        if not re.match(r"struct\s*\{\}", statement) and (
                re.match(r"(static|using|friend|template|struct|class|enum|explicit)\b", statement)
                or "operator" in statement or "(" in re.sub(r"<.*>", "", value)):
            continue
        if name := re.search(r"(\w+)(?:\s*:\s*\d+)?$", value):
            names.append(name[1])
    return names


def tied(body):
    """What state() of this class, not of one in it, ties; None: it has none."""
    depth = 0
    for found in re.finditer(r"[{}]|\bauto state\(\)", body):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0 and found[0] not in "{}":
            return re.findall(r"\w+", re.search(r"std::tie\((.*?)\);", body[found.start():], re.DOTALL)[1])
    return None


def forgotten(text, elsewhere=None):
    """"Class::member" of each that a state() does not tie, and how many classes have one."""
    text = re.sub(r"//[^\n]*", "", text)
    found = list(classes(text))
    known = {**(elsewhere or {}), **{name: body for name, _, body in found}}
    missing, count = [], 0
    for name, bases, body in found:
        names = tied(body)
        if names is None:
            continue
        count += 1
        wanted = members(body)
        for base in bases:
            if base in known and base not in names:  # static_cast<Base&>(*this) has them all
                wanted += members(known[base])
        missing += [f"{name}::{member}" for member in wanted if member not in names]
    return missing, count


class CheckpointMembersTest(unittest.TestCase):
    maxDiff = None

    def test_each_member_is_in_a_checkpoint_or_it_is_said_why_not(self):
        headers = {path: path.read_text() for path in sorted(REPORT.glob("**/*.hpp"))}
        rows = {}  # whose names are their own: bases of what replays keep
        for path, text in headers.items():
            if path.is_relative_to(REPORT / "model") or path.is_relative_to(REPORT / "log"):
                rows.update((name, body) for name, _, body in classes(re.sub(r"//[^\n]*", "", text)))
        missing, count = [], 0
        for path, text in headers.items():
            if "replay" in path.parts or "log" in path.parts:
                of_file, classes_there = forgotten(text, rows)
                missing += of_file
                count += classes_there
        self.assertGreater(count, 40)
        expected = [f"{name}::{member}" for name, reasons in NOT_TIED.items() for member in reasons]
        self.assertEqual(sorted(missing), sorted(expected))

    def test_what_is_replayed_has_a_state(self):
        text = (REPORT / "replay" / "replays.hpp").read_text()
        for name in ("heap", "memory", "holders", "growth", "steps", "shortages", "marks", "contexts", "damages",
                     "churn", "tests", "site_peaks"):
            self.assertIn(name, tied(next(body for found, _, body in classes(text) if found == "Replays")))

    def test_a_member_that_is_forgotten_is_found(self):
        self.assertEqual(forgotten("""
            struct Numbers { int first = 0; unsigned flag : 1 = 0; };
            class Sums final : public Numbers {
            public:
                explicit Sums(int a) : a_(a) {}
                int a() const noexcept { return a_; }
                auto state() noexcept { return std::tie(a_, first); }
            private:
                struct Inner { int other = 0; auto state() { return std::tie(other); } };
                static constexpr int kMost = 3;
                [[gnu::noinline]] void grow(std::size_t by);
                int a_;
                std::map<std::pair<int, int>, std::function<void(int)>> forgotten_{};
                std::array<int, (64 - 3) << 2> table_{}; // of numbers
                struct { int row = 0; } last_;
            };"""), (["Sums::forgotten_", "Sums::table_", "Sums::last_", "Sums::flag"], 2))


if __name__ == "__main__":
    unittest.main()
