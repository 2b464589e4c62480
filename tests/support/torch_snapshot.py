# tests/support/torch_snapshot.py — a memory snapshot of PyTorch's as requests for bin/tests/policy_player, and its answers.
#
# The snapshot is trusted (pickle.load). What lived before its history began is found by going back from its segments.
import subprocess

MIB = 1 << 20
SMALL_SEGMENT = 2 * MIB


class Difference(Exception):
    """The replay did something else than the recording."""


def rounded(size):
    return max(512, (size + 511) // 512 * 512)


def roll_back(segments, events):
    """({address: segment}, {address: bytes}) before the first event."""
    whole, live = {}, {}
    for segment in segments:
        pool = tuple(segment.get("segment_pool_id", (0, 0)))
        whole[segment["address"]] = {"bytes": segment["total_size"], "stream": segment["stream"], "pool": pool,
                                     "small": segment["segment_type"] == "small"}
        address = segment["address"]
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
            whole[address] = {"bytes": event["size"], "stream": event["stream"], "pool": (0, 0),
                              "small": event["size"] == SMALL_SEGMENT}
    return whole, live


def blocks_in(segment, address, live):
    """[(address, bytes)] in order. In the large pool no free piece is as small as 1 MiB: such a gap is the block's."""
    inside = sorted(one for one in live if address <= one < address + segment["bytes"])
    ends = inside[1:] + [address + segment["bytes"]]
    for begin, end in zip(inside, ends):
        size = live[begin]
        if not segment["small"] and end - begin - size <= MIB:
            size = end - begin
        yield begin, size


class Play:
    """What the player is asked, and what it must answer."""

    def __init__(self, segments, events):
        self.lines, self.expected = [], []
        self.numbers, self.streams, self.pools = {}, {0: 0}, {(0, 0): 0}
        self.count = 0
        whole, live = roll_back(segments, events)
        self.reserved = sum(segment["bytes"] for segment in whole.values())
        for address, segment in whole.items():
            self.lines.append(f"segment {address} {segment['bytes']} {self.stream(segment['stream'])} "
                              f"{self.pool(segment['pool'])} {int(segment['small'])}")
            for begin, size in blocks_in(segment, address, live):
                self.lines.append(f"live {self.born(begin)} {begin - address} {size}")
        self.calls = []
        self.read(events, {address: segment["pool"] for address, segment in whole.items()}, segments)

    def stream(self, handle):
        return self.streams.setdefault(handle, len(self.streams))

    def pool(self, name):
        return self.pools.setdefault(name, len(self.pools))

    def born(self, address):
        self.numbers[address] = self.count
        self.count += 1
        return self.numbers[address]

    def ask(self, line, address, event):
        self.lines.append(line)
        self.expected.append((self.calls, address, self.reserved, event))
        self.calls = []

    def read(self, events, pools, segments):
        for segment in segments:
            pools[segment["address"]] = tuple(segment.get("segment_pool_id", (0, 0)))
        sizes = {segment["address"]: segment["total_size"] for segment in segments}
        sizes.update((event["addr"], event["size"]) for event in events if event["action"] == "segment_alloc")
        flush = False
        for index, event in enumerate(events):
            action, address = event["action"], event.get("addr")
            if flush and action != "segment_free":
                self.ask("empty", 0, self.flushed)
                flush = False
            if action == "segment_alloc":
                self.lines.append(f"at {address}")
                self.calls.append(("+", address, event["size"]))
                self.reserved += event["size"]
            elif action == "segment_free":
                flush, self.flushed = True, event
                self.calls.append(("-", address, event["size"]))
                self.reserved -= event["size"]
            elif action == "alloc":
                pool = next((pools[base] for base, size in sizes.items() if base <= address < base + size), (0, 0)) \
                    if len(set(pools.values())) > 1 else (0, 0)
                self.ask(f"alloc {self.born(address)} {event['size']} {self.stream(event['stream'])} {self.pool(pool)}",
                         address, event)
            elif action == "free_requested":
                after = events[index + 1] if index + 1 < len(events) else {}
                done = after.get("action") == "free_completed" and after["addr"] == address
                self.ask(f"{'free' if done else 'later'} {self.numbers[address]}", 0, event)
                if done:
                    self.numbers[address] = None
            elif action == "free_completed":
                if self.numbers[address] is not None:
                    self.ask(f"ready {self.numbers[address]}", 0, event)
        if flush:
            self.ask("empty", 0, self.flushed)


def compare(player, policy, segments, events, capacity=None):
    """Raises Difference at the first event that is not as it was recorded. Returns how many were."""
    play = Play(segments, events)
    command = [str(player), policy, *([str(capacity)] if capacity else [])]
    done = subprocess.run(command, input="\n".join(play.lines) + "\n", capture_output=True, text=True)
    if done.returncode != 0:
        raise Difference(done.stderr)
    answers = done.stdout.splitlines()
    if len(answers) != len(play.expected):
        raise Difference(f"{len(answers)} answers to {len(play.expected)} requests")
    for number, (answer, (calls, address, reserved, event)) in enumerate(zip(answers, play.expected)):
        *made, at, _, left = answer.split()
        wanted = [f"{sign}{begin},{size}" for sign, begin, size in calls]
        if (made, int(at), int(left)) != (wanted, address, reserved):
            shown = {name: value for name, value in event.items() if name != "frames"}
            raise Difference(f"request {number} {shown}: {made} at {at}, reserved {left}; recorded: {wanted} at {address}, "
                             f"reserved {reserved}")
    return len(answers)
