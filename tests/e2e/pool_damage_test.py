# tests/e2e/pool_damage_test.py — poison and guard: who wrote after the free, or beyond the end.
import unittest

from pool import PoolTest

PROGRAM = "pool_damage"


class PoolDamageTest(PoolTest):
    def test_a_sound_program_is_not_blamed(self):
        for mode, knobs in (("cache", {"poison": "0xA5"}), ("split", {"poison": "0x00"}), ("split", {"guard": "on"}),
                            ("split", {"guard": "on", "poison": "0xff"})):
            with self.subTest(f"{mode} {knobs}"):
                self.assert_clean(self.same(PROGRAM, "all_is_well", modes=[mode], **knobs), allocations=18)


if __name__ == "__main__":
    unittest.main()
