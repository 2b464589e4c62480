# tests/e2e/owners_test.py — what owns memory and what is only open here: the scenes
# of owners.cpp and imports.cpp.
import pathlib
import unittest

from e2e import EndToEndTest, line_of, needs, simulated_only

BYTES = 3000
PHYSICAL = 2 << 20


class Scenes(EndToEndTest):
    """PROGRAM: of tests/programs/memory."""

    # A scene without memory is inconclusive: nothing proves that the tracer saw all.
    def scene(self, name, verdict, **lists):
        """The report; of each list of LISTS the rows as (memory, blocks, bytes, line), others must be empty."""
        report = self.trace(self.PROGRAM, name)
        seen = {which: sorted((row["memory"], row["blocks"], row["bytes"], self.place(row)) for row in report[which])
                for which in ("leaks", "unclosed_imports", "owners_not_destroyed", "graph_memory")}
        wanted = {"leaks": [], "unclosed_imports": [], "owners_not_destroyed": [], "graph_memory": []}
        for which, rows in lists.items():
            wanted[which] = sorted((*row[:3], line_of(self.source, row[3])) for row in rows)
        self.assertEqual(seen, wanted)
        self.assertEqual(report["verdict"], verdict, report["verdict_reasons"])
        coverage = report["coverage"]
        self.assertEqual([coverage[doubt] for doubt in ("unmatched_frees", "missed_frees", "undefined_events", "lost_events",
                                                        "failed_calls")], [0] * 5)
        return report

    @property
    def source(self):
        return f"{self.PROGRAM}.cpp"

    def place(self, row):
        frame = row["stack"][0]
        self.assertEqual(pathlib.Path(frame["file"] or "?").name, self.source)
        return frame["line"]


class OwnersTest(Scenes):
    PROGRAM = "owners"

    def test_a_pool_that_is_not_destroyed_is_named_and_is_no_leak(self):
        report = self.scene("pools", "clean", owners_not_destroyed=[("pool", 1, 0, "pool")])
        self.assertEqual(report["coverage"]["pool_trims"], 1)

    @needs("cuMemGetMemPool")
    def test_memory_of_a_host_pool_is_host_memory(self):
        report = self.trace(self.PROGRAM, "host_pool")
        self.assert_leak(self.leak_at(report, self.source, "host_pool"), self.source, "host_pool", bytes=BYTES)
        self.assertEqual((report["totals"]["peak_host_bytes"], report["totals"]["peak_device_bytes"]), (BYTES, 0))

    def test_a_context_that_is_not_destroyed_is_named_whatever_version_made_it(self):
        for version in range(1, 4):
            with self.subTest(version=version):
                self.scene(f"context_v{version}", "inconclusive", owners_not_destroyed=[("context", 1, 0, f"context_v{version}")])

    @needs("cuCtxCreate_v4")
    def test_a_context_of_the_newest_version(self):
        self.scene("context_v4", "inconclusive", owners_not_destroyed=[("context", 1, 0, "context_v4")])

    @needs("cuGreenCtxCreate")
    def test_memory_of_a_green_context_outlives_it(self):
        self.scene("green_context", "leaks", leaks=[("device", 1, BYTES, "in_green")],
                   owners_not_destroyed=[("green_context", 1, 0, "green")])

    @needs("cuGraphInstantiateWithParams")
    def test_an_executable_graph_is_named_whatever_made_it(self):
        self.scene("graph_execs", "inconclusive", owners_not_destroyed=[
            ("graph_exec", 1, 0, mark) for mark in ("exec_v1", "exec_v2", "exec_flags", "exec_params", "exec_ptsz")])

    def test_a_graphs_address_is_freed_after_each_launch(self):
        self.scene("graph_memory", "clean", graph_memory=[("graph", 1, BYTES, "memory_node")])

    def test_what_a_launch_leaves_is_the_programs_to_free(self):
        self.scene("graph_launches", "leaks", leaks=[("graph_launch", 1, BYTES, "launched_node")],
                   graph_memory=[("graph", 2, 2 * BYTES, "launched_node")])

    def test_texture_and_surface_objects_are_named_where_they_stay(self):
        self.scene("views", "clean", owners_not_destroyed=[(kind, 1, 0, kind) for kind in ("texture", "surface")])

    @needs("cuGraphAddNode_v2")
    def test_memory_nodes_of_either_form(self):
        self.scene("graph_nodes", "clean", graph_memory=[("graph", 1, BYTES, "node_v1"), ("graph", 1, BYTES, "node_v2")])

    def test_a_tile_keeps_its_memory_until_it_is_unmapped(self):
        for form in ("tiles", "tiles_ptsz"):
            with self.subTest(form):
                self.scene(form, "leaks", leaks=[("array", 1, 0, "sparse"), ("physical", 1, PHYSICAL, "tile_memory")])


class ImportsTest(Scenes):
    PROGRAM = "imports"

    def test_another_process_memory_is_to_be_closed_as_often_as_it_was_opened(self):
        for version in ("ipc_v1", "ipc_v2"):
            with self.subTest(version):
                report = self.scene(version, "leaks", unclosed_imports=[("ipc", 1, PHYSICAL, "ipc_first")])
                self.assertEqual(len(report["processes"]), 2)
                self.assertEqual((report["totals"]["leaked_bytes"], report["totals"]["unclosed_import_bytes"]), (0, PHYSICAL))

    def test_external_memory_its_buffers_and_its_images(self):
        self.scene("external", "leaks", unclosed_imports=[
            ("external", 1, PHYSICAL, "external"), ("imported", 1, BYTES, "external_buffer"),
            ("imported_mipmap", 1, 16 * 16 * 4, "external_image")])

    def test_a_pool_of_another_process_and_a_pointer_into_it(self):
        report = self.scene("imported_pool", "leaks", unclosed_imports=[("imported", 1, BYTES, "imported_pointer")],
                            owners_not_destroyed=[("pool", 1, 0, "imported_pool")])
        self.assertEqual(report["coverage"]["names_given"], 3)

    def test_a_handle_of_another_process_is_released_by_itself(self):
        self.scene("imported_physical", "leaks", unclosed_imports=[("imported_physical", 1, 0, "import")])

    @simulated_only  # a GPU that is alone has none
    @needs("cuMulticastCreate")
    def test_a_multicast_object_is_no_memory(self):
        self.scene("multicast", "leaks", unclosed_imports=[("multicast", 1, 0, "multicast")])

    def test_a_leak_that_others_may_have_open_says_so(self):
        report = self.scene("shared", "leaks", leaks=[("device", 1, PHYSICAL, "shared")])
        self.assertEqual(report["leaks"][0]["shared_blocks"], 1)
        self.assertEqual(report["coverage"]["names_given"], 2)


if __name__ == "__main__":
    unittest.main()
