# tests/e2e/objects_test.py — streams, events, graphs and code by the driver's forms: the scenes of objects.cpp.
import json
import unittest

from e2e import BUILD, VRAMSCOPE, EndToEndTest, needs, simulated_only


class ObjectsTest(EndToEndTest):
    def scene(self, name, *kinds, **env):
        """The report of a scene, and of each object of these kinds (api, made, ended, alive)."""
        report = self.trace("objects", name, **env)
        rows = [(row["object"], row["entry_point"], row["made"], row["ended"], row["alive"]) for row in report["objects"]
                if row["object"] in kinds]
        self.assertEqual((report["leaks"], report["owners_not_destroyed"] if "green" not in name else []), ([], []))
        return sorted(rows), report

    def test_streams(self):
        rows, report = self.scene("streams", "stream")
        self.assertEqual(rows, [("stream", "cuStreamCreate", 2, 1, 1), ("stream", "cuStreamCreateWithPriority", 2, 1, 1)])
        self.assertIn({"object": "stream", "made": 4, "ended": 2, "alive": 2}, report["processes"][0]["objects"])

    @needs("cuGreenCtxStreamCreate")
    def test_streams_of_green_contexts(self):
        rows, _ = self.scene("green_stream", "stream")
        self.assertEqual(rows, [("stream", "cuGreenCtxStreamCreate", 2, 1, 1)])

    def test_events(self):
        rows, _ = self.scene("events", "event")
        self.assertEqual(rows, [("event", "cuEventCreate", 3, 2, 1)])

    def test_events_of_others(self):
        report = self.trace("imports", "ipc_event")
        self.assertEqual({(row["entry_point"], row["made"], row["ended"]) for row in report["objects"]},
                         {("cuEventCreate", 1, 1), ("cuIpcOpenEventHandle", 2, 1)})

    def test_graphs(self):
        rows, _ = self.scene("graphs", "graph_object")
        self.assertEqual(rows, [("graph_object", "cuGraphClone", 2, 1, 1), ("graph_object", "cuGraphCreate", 2, 1, 1)])

    def test_a_capture_makes_a_graph(self):
        for name, api in (("captures", "cuStreamEndCapture"), ("captures_ptsz", "cuStreamEndCapture_ptsz")):
            for pool in ("off", "cache"):
                with self.subTest(name, pool=pool):
                    rows, _ = self.scene(name, "graph_object", VRAMSCOPE_POOL=pool)
                    self.assertEqual(rows, [("graph_object", api, 2, 1, 1)])

    @needs("cuStreamBeginCaptureToGraph")
    def test_a_capture_to_a_graph_makes_none(self):
        rows, _ = self.scene("capture_to_graph", "graph_object")
        self.assertEqual(rows, [("graph_object", "cuGraphCreate", 1, 0, 1)])

    def test_modules(self):
        rows, _ = self.scene("modules", "module")
        self.assertEqual(rows, [("module", f"cuModule{form}", 2, 1, 1)
                                for form in ("Load", "LoadData", "LoadDataEx", "LoadFatBinary")])

    @needs("cuLibraryLoadData")
    def test_libraries(self):
        rows, _ = self.scene("libraries", "library")
        self.assertEqual(rows, [("library", f"cuLibraryLoad{form}", 2, 1, 1) for form in ("Data", "FromFile")])

    def test_of_a_limit_the_last_setting_stays(self):
        rows, report = self.scene("limits", "context_limit")
        self.assertEqual(rows, [("context_limit", "cuCtxSetLimit", 1, 0, 1), ("context_limit", "cuCtxSetLimit", 2, 0, 1)])
        self.assertIn({"object": "context_limit", "made": 3, "ended": 0, "alive": 2}, report["processes"][0]["objects"])

    @simulated_only
    def test_what_the_driver_refuses_is_none(self):
        report = self.trace("objects", "events", status=3, VRAMSCOPE_SIM_FAULTS="cuEventCreate@2=999")
        self.assertEqual([(row["made"], row["ended"]) for row in report["objects"] if row["object"] == "event"], [(1, 0)])


@simulated_only
class ObjectMemoryTest(EndToEndTest):
    """What the driver takes for objects: of the simulated one, what it was told to take."""

    def taken(self, scene, takes, **env):
        report = self.trace("objects", scene, VRAMSCOPE_SIM_TAKES=takes, **env)
        return {row["entry_point"]: row["taken"] for row in report["objects"]}, report

    def test_each_making_is_asked_about(self):
        MiB = 1 << 20
        streams, report = self.taken("streams", "stream=2MiB")
        # The forms take turns, so each of the two may be a step off.
        self.assertEqual(streams["cuStreamCreate"],
                         {"objects": 2, "bytes": 4 * MiB, "least": 0, "most": 8 * MiB, "least_each": None, "most_each": None})
        # One of each form is left, and no context was seen to be made: it is the device's first.
        parts = report["processes"][0]["device_memory"][0]["at_end"]["waterfall"]
        self.assertEqual((parts["contexts"], parts["objects"]), (0, 4 * MiB))
        modules, _ = self.taken("modules", "module=8MiB")
        self.assertEqual({name: (row["objects"], row["bytes"]) for name, row in modules.items()},
                         {f"cuModule{form}": (2, 16 * MiB) for form in ("Load", "LoadData", "LoadDataEx", "LoadFatBinary")})

    def test_of_what_is_made_all_the_time_few_are_asked_about(self):
        """A hundredth of the time is for asking, and each answer takes 20 us."""
        streams, report = self.taken("many_streams", "stream=2MiB", VRAMSCOPE_SIM_INFO_US="20")
        self.assertEqual([row["made"] for row in report["objects"] if row["object"] == "stream"], [20_000])
        asked = (streams["cuStreamCreate"] or {"objects": 0})["objects"]  # none where the first answer took too long
        self.assertLess(asked, 10_000)

    def test_a_driver_that_answers_slowly_is_asked_no_more(self):
        streams, _ = self.taken("many_streams", "stream=2MiB", VRAMSCOPE_SIM_INFO_US="300")
        self.assertEqual(streams["cuStreamCreate"]["objects"], 1)  # three answers are one making's two, and one before the next

    def test_of_what_is_made_at_once_nobody_knows_which_took_it(self):
        made, _ = self.taken("made_at_once", "stream=2MiB,module=2MiB")
        self.assertEqual((made["cuModuleLoad"], made["cuStreamCreate"]), (None, None))
        self.assertEqual(made["cuStreamCreateWithPriority"]["bytes"], 2 << 20)

    def test_a_limit_takes_what_it_is_raised_by(self):
        report = self.taken("limits", "limit=8MiB")[1]
        self.assertEqual(sorted((row["made"], row["taken"]["bytes"]) for row in report["objects"]), [(1, 8 << 20), (2, 8 << 20)])

    @needs("cuLibraryLoadData")
    def test_libraries(self):
        libraries, _ = self.taken("libraries", "library=2MiB")
        self.assertEqual([row["bytes"] for row in libraries.values()], [4 << 20] * 2)

    def test_nothing_is_said_of_what_takes_none_or_where_nothing_may_be_asked(self):
        self.assertEqual(self.taken("events", "stream=2MiB")[0], {"cuEventCreate": None})
        for name, value in (("VRAMSCOPE_POOL", "off"), ("VRAMSCOPE_DEVICE_MEMORY", "off")):
            with self.subTest(name):
                streams, _ = self.taken("streams", "stream=2MiB", **{name: value})
                self.assertEqual(list(streams.values()), [None, None])

    def test_beside_other_processes_that_move_hardly_any_range_is_wrong(self):
        wrong, report = [], self.folder / "report.json"
        for size in range(16, 336, 16):
            self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-f", "--json", report, "--", BUILD / "bin" / "corpus" / "objects_code_fills_the_device",
                         VRAMSCOPE_SIM_TAKES="module=1MiB", VRAMSCOPE_SIM_NEIGHBOUR=f"{size}MiB")
            [code] = [row["taken"] for row in json.loads(report.read_text())["objects"] if row["object"] == "module"]
            if not code["least"] <= 40 << 20 <= code["most"]:
                wrong.append((size, code))
        self.assertLessEqual(len(wrong), 1, wrong)


if __name__ == "__main__":
    unittest.main()
