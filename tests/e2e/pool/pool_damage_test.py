# tests/e2e/pool/pool_damage_test.py — poison and guard: who wrote after the free,
# or beyond the end.
import unittest

from pool import PoolTest, line_of

PROGRAM = "pool_damage"


class PoolDamageTest(PoolTest):
    def test_a_sound_program_is_not_blamed(self):
        for mode, knobs in (("cache", {"poison": "0xA5"}), ("split", {"poison": "0x00"}), ("split", {"guard": "on"}),
                            ("split", {"guard": "on", "poison": "0xff"})):
            with self.subTest(f"{mode} {knobs}"):
                self.assert_clean(self.same(PROGRAM, "all_is_well", modes=[mode], **knobs), allocations=18)

    def test_frees_of_what_the_pool_has_are_right_or_refused(self):
        for mode, knobs in (("off", {}), ("cache", {}), ("split", {}), ("cache", {"poison": "0xA5"}), ("split", {"guard": "on"}),
                            ("split", {"guard": "on", "pool_sync": "strict"})):
            for scene in ("wrong_frees", "frees_by_the_driver"):
                with self.subTest(f"{scene} {mode} {knobs}"):
                    self.assertEqual(self.in_mode(PROGRAM, scene, mode, **knobs)[0], "done\n")

    def damage(self, scene, mode, **knobs):
        out, report = self.in_mode(PROGRAM, scene, mode, **knobs)
        self.assertEqual((out, self.told), ("", ""))
        self.assertEqual((report["verdict"], len(report["damage"])), ("clean", 1), report["damage"])
        return report["damage"][0]

    def assert_at(self, call, mark):
        self.assertEqual(call["stack"][0]["line"], line_of("pool_damage.cpp", mark))

    def test_a_write_after_the_free_has_the_stacks_of_allocation_and_free(self):
        for mode, scene, freed in (("cache", "after_free", "freed"), ("split", "after_free", "freed"),
                                   ("cache", "after_free_at_once", "freed_at_once"), ("split", "after_free_at_once", "freed_at_once")):
            with self.subTest(f"{mode} {scene}"):
                damage = self.damage(scene, mode, poison="0xA5")
                self.assertEqual((damage["kind"], damage["times"], damage["offset"], damage["wrong_bytes"], damage["block_bytes"]),
                                 ("use-after-free", 1, 1000, 24, 12 << 20))
                self.assert_at(damage["allocation"], "victim")
                self.assert_at(damage["freed"], freed)
                self.assert_at(damage["noticed"], "next_tenant")
                self.assertEqual(damage["noticed"]["entry_point"], "")

    def test_without_poison_nobody_looks(self):
        for mode in ("cache", "split"):
            self.assertEqual(self.in_mode(PROGRAM, "after_free", mode)[1]["damage"], [])

    def test_writes_before_and_behind_a_block_are_found_at_its_free(self):
        for scene, offset, wrong in (("overrun", 3000, 4), ("underrun", -8, 8)):
            for knobs in ({}, {"poison": "0x11"}):
                with self.subTest(f"{scene} {knobs}"):
                    damage = self.damage(scene, "split", guard="on", **knobs)
                    self.assertEqual((damage["kind"], damage["offset"], damage["wrong_bytes"], damage["block_bytes"]),
                                     (scene, offset, wrong, 3000))
                    self.assert_at(damage["allocation"], "victim")
                    self.assert_at(damage["noticed"], f"{scene}_found")

    def test_frees_in_a_stream_and_from_another_context_are_as_any_other(self):
        for knobs in ({"poison": "0xA5"}, {"guard": "on"}, {"guard": "on", "poison": "0xA5"}):
            for scene, marks in (("other_ways", []), ("free_in_a_capture", []),
                                 ("other_ways_after_an_overrun", ["freed_in_a_stream", "freed_elsewhere"])):
                with self.subTest(f"{scene} {knobs}"):
                    out, report = self.in_mode(PROGRAM, scene, "split", **knobs)
                    self.assertEqual(out, "done\n")
                    found = report["damage"] if "guard" in knobs or not marks else []
                    lines = [line_of("pool_damage.cpp", mark) for mark in (marks if found else [])]
                    self.assertEqual([row["noticed"]["stack"][0]["line"] for row in found], lines, found)
                    self.assertEqual([(row["kind"], row["times"], row["wrong_bytes"]) for row in found],
                                     [("overrun", 3, 4)] * len(found))

    def test_the_summary_of_a_run_has_a_line(self):
        done, _ = self.run_traced(PROGRAM, "overrun", VRAMSCOPE_POOL="split", VRAMSCOPE_GUARD="on")
        self.assertRegex(done.stderr, r"vramscope: DAMAGE: 1 block, overrun, allocated at victim\(unsigned long\) pool_damage\.cpp:\d+\n")


if __name__ == "__main__":
    unittest.main()
