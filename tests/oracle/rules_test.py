#!/usr/bin/env python3
# tests/oracle/rules_test.py — sqlite3 counts in the exported events what rules forbid and limit, and
# owners are counted a second time.
import collections
import json
import re
import unittest

from oracle import DEVICE_MEMORY, GPU, HOST_MEMORY, PROGRAMS, TRACED, VRAMSCOPE, OracleTest, needs

OWN = ", ".join(f"'{kind}'" for kind in DEVICE_MEMORY | HOST_MEMORY)
# Each record in the order of the log; how deep each thread's ranges are after it; whether an
# allocation reached the driver; what a free gave back; and the spans of ranges of one name.
EVENTS = f"""
create table event as select rowid as at, line ->> 'type' as type, line ->> 'thread' as thread, line ->> 'name' as name,
  line ->> 'memory' as memory, line ->> 'bytes' as bytes, line ->> 'device' as device, line ->> 'pooled' as pooled,
  line ->> 'address' as address from lines;
create table api as select line ->> 'id' as id, line ->> 'memory' as memory from lines where line ->> 'type' = 'api';
create table deep as select *, sum(case type when 'range_push' then 1 when 'range_pop' then -1 else 0 end)
  over (partition by thread order by at) as depth from event;
create table step as select thread, at as begin, coalesce((select min(at) from deep as other where other.thread = deep.thread and
  type = 'range_pop' and other.at > deep.at and other.depth = deep.depth - 1), 1 << 60) as end
  from deep where type = 'range_push' and name glob 'step*';
create table alloc as select *, not pooled or lag(type) over (partition by thread order by at) = 'segment' as driver
  from event where type in ('alloc', 'segment');
delete from alloc where type = 'segment' or memory not in ({OWN}, 'graph');
create table live as select at, bytes, memory, device from alloc where memory in ({OWN}) union all
  select event.at, -(select bytes from alloc where alloc.address = event.address and alloc.at < event.at order by alloc.at desc limit 1),
  (select memory from alloc where alloc.address = event.address and alloc.at < event.at order by alloc.at desc limit 1), 0
  from event where type = 'free';
"""
IN_STEP = "exists (select 1 from step where step.thread = alloc.thread and alloc.at between begin and end)"
RULES = {
    "forbid alloc": "count(*) from alloc",
    "forbid alloc in range step*": f"count(*) from alloc where {IN_STEP}",
    "forbid alloc in range step* after first 3 of step*":
        f"count(*) from alloc where {IN_STEP} and (select count(*) from step where end < alloc.at) >= 3",
    "forbid driver-alloc": "count(*) from alloc where driver",
    "forbid driver-alloc in range step*": f"count(*) from alloc where driver and {IN_STEP}",
    "forbid alloc kind pinned": "count(*) from alloc where memory = 'pinned'",
    "forbid alloc not device 0": "count(*) from alloc where device is not 0",
    "limit peak 0": "coalesce(max(total), 0) from (select sum(bytes) over (order by at) as total from live)",
    "limit peak 0 kind async": "coalesce(max(total), 0) from (select sum(bytes) over (order by at) as total from live where memory = 'async')",
    "limit live 0": "coalesce(sum(bytes), 0) from live",
}
OWNERS_FILE = """
owner "weights" stack /Model::Model/ or stack /^WorkspaceCache::/
owner labels stack /load_labels|log_loss/ # the two that leak
owner "moved asynchronously" kind async
owner host kind pinned
"""
OWNERS = {
    "weights": lambda event, stack: any(re.search("Model::Model|^WorkspaceCache::", frame["function"] or "") for frame in stack),
    "labels": lambda event, stack: any(re.search("load_labels|log_loss", frame["function"] or "") for frame in stack),
    "moved asynchronously": lambda event, stack: event["memory"] == "async",
    "host": lambda event, stack: event["memory"] == "pinned",
}
# Their memory goes with something else than a free.
NOT_FREED_ALONE = ("physical memory that is still mapped", "a context that takes its memory along")


class RulesTest(OracleTest):
    def counted(self, log):
        """What sqlite3 counts for each rule."""
        self.ask(VRAMSCOPE, "export", "--force", "--to", "jsonl", "-o", "lines", log)
        script = f'create table lines(line);\n.mode ascii\n.separator "\\037" "\\n"\n.import lines lines\n{EVENTS}'
        script += "".join(f"select {question};\n" for question in RULES.values())
        (self.folder / "script.sql").write_text(script)
        return [int(number) for number in self.ask("sh", "-c", "sqlite3 -bail :memory: <script.sql").split()]

    def measured(self, log):
        """What each rule measures. They are too many for names that say more."""
        (self.folder / "rules.txt").write_text("".join(f"r{at}: {rule}\n" for at, rule in enumerate(RULES)))
        done = self.execute(VRAMSCOPE, "check", log, "--fail-on", "none", "--rules", "rules.txt", "--json", "-")
        self.assertIn(done.returncode, (0, 100, 111), done.stderr)
        rows = json.loads(done.stdout)["budgets"]
        self.assertEqual([row["rule"] for row in rows], [f"r{at}" for at in range(len(RULES))])
        return [row["measured"] for row in rows]

    def test_each_rule_measures_what_sqlite3_counts(self):
        for pool in ("off", "cache", "split"):
            for what, command in TRACED.items():
                if what in NOT_FREED_ALONE:
                    continue
                with self.subTest(what, pool=pool):
                    log = self.folder / "run.vsl"
                    self.ask(VRAMSCOPE, "run", "--force", "--pool", pool, "--simulate", GPU, "-o", log, PROGRAMS / command[0], *command[1:])
                    self.assertEqual(dict(zip(RULES, self.measured(log))), dict(zip(RULES, self.counted(log))))

    def by_owner(self, log):
        """{(owner, device): [allocations, bytes, live bytes, bytes at the peak]}, counted here."""
        frames, memory, live, sums, total, peak = {}, {}, {}, collections.defaultdict(lambda: [0, 0, 0, 0]), collections.Counter(), collections.Counter()
        for event in self.events(log):
            if event["type"] == "stack":
                frames[event["id"]] = event["frames"]
            elif event["type"] == "api":
                memory[event["id"]] = event["memory"]
            elif event["type"] == "alloc" and event["memory"] in DEVICE_MEMORY | HOST_MEMORY:
                stack = frames.get(event["stack"], [])
                owner = next((name for name, has in OWNERS.items() if has(event, stack)), "other")
                key = owner, None if event["memory"] in HOST_MEMORY else event["device"]
                live[event["address"]] = key, event["bytes"]
                sums[key][0] += 1
                sums[key][1] += event["bytes"]
                sums[key][2] += event["bytes"]
                total[key[1]] += event["bytes"]
                if key[1] is not None and total[key[1]] > peak[key[1]]:
                    peak[key[1]] = total[key[1]]
                    for (name, device), sum in sums.items():
                        sum[3] = sum[2] if device == key[1] else sum[3]
            elif event["type"] == "free" and event["address"] in live:
                key, size = live.pop(event["address"])
                sums[key][2] -= size
                total[key[1]] -= size
        return dict(sums)

    def test_owners_have_what_is_counted_here(self):
        (self.folder / "owners").write_text(OWNERS_FILE)
        for pool in ("off", "split"):
            log = self.folder / "run.vsl"
            self.ask(VRAMSCOPE, "run", "--force", "--pool", pool, "--simulate", GPU, "-o", log, PROGRAMS / "training_demo", "9")
            rows = json.loads(self.ask(VRAMSCOPE, "report", "--owners", "owners", "--json", "-", log))["by_owner"]
            found = {(row["owner"], row["device"]): [row["allocations"], row["allocated_bytes"], row["live_bytes"], row["at_peak_bytes"]]
                     for row in rows}
            self.assertEqual(found, self.by_owner(log))
            self.assertEqual({owner for owner, _ in found}, {*OWNERS, "other"})


if __name__ == "__main__":
    needs("sqlite3")
    unittest.main()
