# tests/support/torch_snapshot.py — PyTorch's memory history as requests for
# policy_player, and its answers.
#
# What lived before the history began is found by going back from the segments at its end.
import bisect
import subprocess

MIB = 1 << 20
SMALL_SEGMENT = 2 * MIB
NO_POOL = (0, 0)
TAKES, GIVES = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")


class Difference(Exception):
    """The replay did something else than the recording."""


def rounded(size):
    return max(512, (size + 511) // 512 * 512)


def pool_of(segment):
    return tuple(segment.get("segment_pool_id", NO_POOL))


def roll_back(segments, events):
    """({address: segment}, {address: bytes}) before the first event."""
    whole, live = {}, {}
    for segment in segments:
        address = segment["address"]
        whole[address] = {"bytes": segment["total_size"], "stream": segment["stream"], "pool": pool_of(segment),
                          "small": segment["segment_type"] == "small"}
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                live[address] = block["size"]
            address += block["size"]
    for event in reversed(events):
        address = event.get("addr")
        if event["action"] == "alloc":
            live.pop(address)
        elif event["action"] == "free_completed":
            live[address] = rounded(event["size"])
        elif event["action"] == "segment_alloc":
            whole.pop(address)
        elif event["action"] == "segment_free":
            whole[address] = {"bytes": event["size"], "stream": event["stream"], "pool": NO_POOL,
                              "small": event["size"] == SMALL_SEGMENT}
    return whole, live


def note_places(whole, live, events):
    """Makes blocks in `live` as long as their places: what is allocated after one begins where its place ends."""
    alive, older, segments = sorted(live), set(live), sorted(whole)
    for event in events:
        address = event.get("addr")
        at = bisect.bisect_left(alive, address) if address is not None else 0
        if event["action"] == "alloc":
            before = alive[at - 1] if at else None
            if before in older:
                begin = segments[bisect.bisect_right(segments, before) - 1]
                if address < begin + whole[begin]["bytes"] and address - before <= live[before] + MIB:
                    live[before] = address - before
                    older.discard(before)
            alive.insert(at, address)
        elif event["action"] == "free_completed" and alive[at:at + 1] == [address]:
            alive.pop(at)
            older.discard(address)


def blocks_in(segment, address, live):
    """[(address, bytes)] in order. In the large pool no free piece is as small as 1 MiB: such a gap is the block's."""
    inside = sorted(one for one in live if address <= one < address + segment["bytes"])
    ends = inside[1:] + [address + segment["bytes"]]
    for begin, end in zip(inside, ends):
        size = live[begin]
        if not segment["small"] and end - begin - size <= MIB:
            size = end - begin
        yield begin, size


class PrivateSegments:
    """Which pool an address belongs to. A segment of a private pool lasts until the end, so the end tells."""

    def __init__(self, segments, events):
        self.began = {event["addr"]: index for index, event in enumerate(events) if event["action"] in TAKES}
        self.segments = [segment for segment in segments if pool_of(segment) != NO_POOL]

    def pool(self, address, index):
        for segment in self.segments:
            begin = segment["address"]
            if begin <= address < begin + segment["total_size"] and self.began.get(begin, -1) < index:
                return pool_of(segment)
        return NO_POOL


class Play:
    """What the player is asked, and what it must answer.

    `emptied` has the numbers of the program's requests that emptied the cache; without it each run of segments that go
    back is taken for one. `pooled` has those that were made in the only private pool, which a failure's event lacks.
    """

    def __init__(self, segments, events, emptied=None, pooled=()):
        self.lines, self.expected = [], []
        self.numbers, self.streams, self.pools = {}, {0: 0}, {NO_POOL: 0}
        self.count, self.calls, self.flush = 0, [], None
        self.emptied, self.pooled, self.requests = emptied, frozenset(pooled), 0  # the program's own
        self.private = PrivateSegments(segments, events)
        self.expandable = any(event["action"] == "segment_map" for event in events)
        self.reserved = 0
        if not self.expandable:
            whole, live = roll_back(segments, events)
            note_places(whole, live, events)
            self.start(whole, live)
        for index, event in enumerate(events):
            self.read(event, index, events[index + 1] if index + 1 < len(events) else {})
        self.end_flush()
        self.empty_before(None)

    def start(self, whole, live):
        self.reserved = sum(segment["bytes"] for segment in whole.values())
        for address, segment in whole.items():
            self.lines.append(f"segment {address} {segment['bytes']} {self.stream(segment['stream'])} "
                              f"{self.pool(segment['pool'])} {int(segment['small'])}")
            for begin, size in blocks_in(segment, address, live):
                self.lines.append(f"live {self.born(begin)} {begin - address} {size}")

    def stream(self, handle):
        return self.streams.setdefault(handle, len(self.streams))

    def pool(self, name):
        return self.pools.setdefault(name, len(self.pools))

    def born(self, address):
        self.numbers[address] = self.count
        self.count += 1
        return self.numbers[address]

    def ask(self, line, address, event, is_programs=True):
        if is_programs:
            self.empty_before(self.requests)
            self.requests += 1
        self.lines.append(line)
        self.expected.append({"calls": self.calls, "address": address, "reserved": self.reserved, "event": event,
                              "is_programs": is_programs})
        self.calls = []

    def empty_before(self, request):
        """Requests by the program that left nothing in the history, or segments that went back."""
        while self.emptied and (request is None or self.emptied[0] == request):
            self.emptied = self.emptied[1:]
            calls = [call for call in self.calls if call[0] == "-"]
            self.calls = [call for call in self.calls if call[0] == "+"]
            taken = sum(size for _, _, size in self.calls)
            self.lines.append("empty")
            self.expected.append({"calls": calls, "address": 0, "reserved": self.reserved - taken, "event": {},
                                  "is_programs": True})
            if request is not None:
                self.requests = request = request + 1

    def end_flush(self):
        if self.flush and self.emptied is None:
            self.ask("empty", 0, self.flush)
        self.flush = None

    def read(self, event, index, after):
        action, address = event["action"], event.get("addr")
        if action not in GIVES:
            self.end_flush()
        if action in TAKES:
            if not self.expandable:
                self.lines.append(f"at {address}")
            self.calls.append(("+", address, event["size"]))
            self.reserved += event["size"]
        elif action in GIVES:
            self.flush = event
            self.calls.append(("-", address, event["size"]))
            self.reserved -= event["size"]
        elif action in ("alloc", "oom"):
            got = address if action == "alloc" else 0
            self.empty_before(self.requests)
            pool = self.pool(self.private.pool(got, index) if got or self.requests not in self.pooled else (0, 1))
            stream = self.stream(event["stream"])
            number = self.born(got) if got else self.born(None)
            self.ask(f"alloc {number} {event['size']} {stream} {pool}", got, event)
        elif action == "free_requested":
            done = after.get("action") == "free_completed" and after["addr"] == address
            self.ask(f"{'free' if done else 'later'} {self.numbers[address]}", 0, event)
            if done:
                self.numbers[address] = None
        elif action == "free_completed" and self.numbers[address] is not None:
            self.ask(f"ready {self.numbers[address]}", 0, event, is_programs=False)

    def answers(self, player, policy, *limits):
        """[{calls, address, allocated, reserved}], one for each of `expected`."""
        done = subprocess.run([str(player), policy, *map(str, limits)], input="\n".join(self.lines) + "\n",
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Difference(done.stderr)
        answers = []
        for line in done.stdout.splitlines():
            *calls, address, allocated, reserved = line.split()
            calls = [(call[0], *map(int, call[1:].split(","))) for call in calls]
            answers.append({"calls": calls, "address": int(address), "allocated": int(allocated),
                            "reserved": int(reserved)})
        if len(answers) != len(self.expected):
            raise Difference(f"{len(answers)} answers to {len(self.expected)} requests")
        return answers

    def compare(self, player, policy, *limits):
        """Raises Difference at the first event that is not as it was recorded. Returns the answers."""
        answers = self.answers(player, policy, *limits)
        for number, (answer, wanted) in enumerate(zip(answers, self.expected)):
            same = answer["reserved"] == wanted["reserved"] and bool(answer["address"]) == bool(wanted["address"])
            if self.expandable:  # its ranges have addresses of their own
                sizes = [sorted(call[::2] for call in one["calls"]) for one in (answer, wanted)]
                same = same and sizes[0] == sizes[1]
            else:
                same = same and answer["address"] == wanted["address"]
                same = same and sorted(answer["calls"]) == sorted(wanted["calls"])
            if not same:
                event = {name: value for name, value in wanted.pop("event").items() if name != "frames"}
                raise Difference(f"request {number} {event}: {answer}; recorded: {wanted}")
        return answers
