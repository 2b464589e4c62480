# tests/support/torch_snapshots.py — memory snapshots of PyTorch: made without PyTorch,
# and held against logs.
import collections
import json
import pickle
import random

MIB = 1 << 20
SMALL_SEGMENT = 2 * MIB
ACTIONS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom",
           "snapshot")


class Allocator:
    """As much of PyTorch's allocator as its recordings need: segments, first fit, splitting, a ring of events."""

    def __init__(self, seed, device=0, expandable=False, ring=10**9):
        self.random = random.Random(seed)
        self.device, self.expandable = device, expandable
        self.segments = []  # dicts as in a snapshot, with all blocks
        self.trace = collections.deque(maxlen=ring)
        self.time = 1_700_000_000_000_000
        self.next_address = 0x7F0000000000 + device * (1 << 40)
        self.stacks = [self.stack(depth) for depth in range(1, 9)]
        self.streams = [0, 0x5500A0]
        self.metadata = ""

    def stack(self, depth):
        native = [{"name": "at::empty()", "filename": "??", "line": 0}]
        return native + [{"name": f"f{at}", "filename": f"/home/me/net{at % 3}.py", "line": 10 + at} for at in range(depth)]

    def event(self, action, address, size, stream, frames, **more):
        self.time += self.random.choice((0, 1, 7))
        event = {"action": action, "addr": address, "size": size, "stream": stream, "time_us": self.time, "frames": frames}
        if self.metadata:
            event["user_metadata"] = self.metadata
        self.trace.append(event | more)

    def segment(self, size, stream, pool, frames):
        small = size <= MIB
        total = SMALL_SEGMENT if small else 20 * MIB if size < 10 * MIB else (size + SMALL_SEGMENT - 1) // SMALL_SEGMENT * SMALL_SEGMENT
        address, self.next_address = self.next_address, self.next_address + total + 64 * MIB
        self.event("segment_map" if self.expandable else "segment_alloc", address, total, stream, frames)
        made = {"device": self.device, "address": address, "total_size": total, "stream": stream, "frames": frames,
                "segment_type": "small" if small else "large", "segment_pool_id": pool, "is_expandable": self.expandable,
                "blocks": [self.block(address, total, "inactive")]}
        self.segments.append(made)
        return made

    @staticmethod
    def block(address, size, state, requested=0, frames=()):
        return {"address": address, "size": size, "requested_size": requested, "state": state, "frames": list(frames)}

    def malloc(self, requested, pool=(0, 0)):
        size = max(512, (requested + 511) // 512 * 512)
        stream, frames = self.random.choice(self.streams), self.random.choice(self.stacks)
        kind = "small" if size <= MIB else "large"
        for segment in self.segments + [None]:
            segment = segment or self.segment(size, stream, pool, frames)
            if (segment["stream"], segment["segment_type"], segment["segment_pool_id"]) != (stream, kind, pool):
                continue
            for at, block in enumerate(segment["blocks"]):
                if block["state"] == "inactive" and block["size"] >= size:
                    rest = block["size"] - size
                    if rest >= 512 if kind == "small" or self.expandable else rest > MIB:
                        segment["blocks"].insert(at + 1, self.block(block["address"] + size, rest, "inactive"))
                        block["size"] = size
                    block.update(state="active_allocated", requested_size=requested, frames=frames)
                    self.event("alloc", block["address"], requested, stream, frames)
                    return
        raise AssertionError("a new segment has room")

    def live(self, state="active_allocated"):
        return [(segment, block) for segment in self.segments for block in segment["blocks"] if block["state"] == state]

    def free(self):
        segment, block = self.random.choice(self.live())
        frames = self.random.choice(self.stacks)
        self.event("free_requested", block["address"], block["requested_size"], segment["stream"], frames)
        if self.random.random() < 0.1:
            block["state"] = "active_pending_free"
        else:
            self.complete(segment, block, frames)

    def complete(self, segment, block, frames=()):
        self.event("free_completed", block["address"], block["requested_size"], segment["stream"], list(frames))
        block.update(state="inactive", requested_size=0, frames=[])
        merged = []
        for each in segment["blocks"]:
            if merged and merged[-1]["state"] == each["state"] == "inactive":
                merged[-1]["size"] += each["size"]
            else:
                merged.append(each)
        segment["blocks"] = merged

    def empty_cache(self):
        for segment in list(self.segments):
            if all(block["state"] == "inactive" for block in segment["blocks"]):
                self.segments.remove(segment)
                self.event("segment_unmap" if self.expandable else "segment_free", segment["address"], segment["total_size"],
                           segment["stream"], [])

    def work(self, steps):
        for _ in range(steps):
            what = self.random.random()
            pending = self.live("active_pending_free")
            if what < 0.05 and pending:
                self.complete(*self.random.choice(pending))
            elif what < 0.45 and self.live():
                self.free()
            elif what < 0.47:
                self.empty_cache()
            elif what < 0.48:
                self.event("oom", 0, 100 << 30, 0, self.random.choice(self.stacks), device_free=12345)
                del self.trace[-1]["addr"]
            elif what < 0.50:
                self.metadata = self.random.choice(("", "forward", "backward"))
            else:
                pool = self.random.choice(((0, 0), (0, 0), (0, 1), (3, 0)))
                self.malloc(self.random.choice((1, 700, 5000, MIB, MIB + 1, 3 * MIB, 30 * MIB)), pool)
        return self

    def state(self):
        for segment in self.segments:
            of = lambda *states: [block for block in segment["blocks"] if block["state"] in states]  # noqa: E731
            segment["allocated_size"] = sum(block["size"] for block in of("active_allocated"))
            segment["active_size"] = sum(block["size"] for block in of("active_allocated", "active_pending_free"))
            segment["requested_size"] = sum(block["requested_size"] for block in of("active_allocated"))
        return sorted(self.segments, key=lambda segment: segment["address"])


def snapshot_of(*allocators, annotations=()):
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0, "expandable_segments": any(one.expandable for one in allocators),
                "roundup_power2_divisions": {"1": 0, "2": 4}}
    return {"segments": [segment for one in allocators for segment in one.state()],
            "device_traces": [list(one.trace) for one in allocators],
            "allocator_settings": settings, "external_annotations": list(annotations)}


def events_of(jsonl):
    return [json.loads(line) for line in jsonl.splitlines()]


class LogOfASnapshot:
    """What an imported log says, by device, from its exported events."""

    def __init__(self, events):
        self.calls = collections.defaultdict(list)  # (what, address, bytes, stream), after the recording began
        self.blocks, self.segments = collections.defaultdict(dict), collections.defaultdict(dict)
        self.unknown = set()
        device_of = {}
        memory_of = {event["id"]: (event["memory"], event["entry_point"]) for event in events if event["type"] == "api"}
        for event in events:
            if event["type"] == "alloc":
                device_of[event["address"]] = event["device"]
            if event["type"] == "size_unknown":
                self.unknown.add(int(event["address"], 16))
            if event["type"] not in ("alloc", "free"):
                continue
            memory, address = memory_of[event["api"]][0], int(event["address"], 16)
            device = event["device"] if event["type"] == "alloc" else device_of[event["address"]]
            kept = {"suballocated": self.blocks, "device": self.segments}.get(memory)
            if kept is None:
                continue
            size = kept[device].pop(address) if event["type"] == "free" else event["bytes"]
            if event["type"] == "alloc":
                kept[device][address] = size
            if event["ns"] > 0:
                self.calls[device].append((event["type"], memory, address, size))


def expect_same(test, snapshot, log):
    """The log has the calls of the snapshot in their order, and holds at its end what that holds."""
    names = {"alloc": ("alloc", "suballocated"), "free_requested": ("free", "suballocated"),
             "segment_alloc": ("alloc", "device"), "segment_free": ("free", "device")}
    for device, trace in enumerate(snapshot["device_traces"]):
        wanted = [names[event["action"]] + (event["addr"], event["size"]) for event in trace if event["action"] in names]
        test.assertEqual(log.calls[device], wanted)
        segments = [segment for segment in snapshot["segments"] if segment["device"] == device]
        test.assertEqual(log.segments[device], {segment["address"]: segment["total_size"] for segment in segments
                                                if not segment["is_expandable"]})
        test.assertEqual(log.blocks[device], {block["address"]: block["requested_size"] for segment in segments
                                              for block in segment["blocks"] if block["state"] == "active_allocated"})


def without_recorder(frames):
    """Without what a log does not keep: the functions that recorded the stack, and the interpreter's loop."""
    kept = [(frame["name"], frame["filename"] or "??", frame["line"]) for frame in frames
            if frame["name"] != "_PyEval_EvalFrameDefault"]
    while kept and kept[0][0].startswith(("torch::unwind::", "torch::CapturedTraceback::",
                                          "torch::cuda::(anonymous namespace)::gather")):
        kept.pop(0)
    return kept


CALLED_BY_NOBODY = ("free_completed", "segment_unmap", "snapshot")


def expect_same_snapshot(test, first, second, stacks=False, places=True):
    """Two snapshots say the same. `places`: also how large the places of blocks are, which a log does not have: it is told
    from what lies around them, and a neighbour may have been freed since."""
    def event(one):
        row = [one["action"], one.get("addr", one.get("device_free")), one["size"], one["stream"],
               one.get("time_us"), one.get("user_metadata", "")]
        # The end of queued work has no caller, and of memory that is unmapped a log has none.
        return row + [without_recorder(one["frames"])] if stacks and one["action"] not in CALLED_BY_NOBODY else row

    def block(one):
        row = [one["address"], one["requested_size"] if one["state"] == "active_allocated" else 0, one["state"]]
        return row + [one["size"]] if places else row

    def segment(one):
        keys = ["device", "address", "total_size", "requested_size", "stream", "segment_type", "segment_pool_id", "is_expandable"]
        return [one[key] for key in keys + ["allocated_size", "active_size"] * places] + \
            [block(each) for each in one["blocks"] if places or each["state"] != "inactive"]

    for old, new in zip(first["device_traces"], second["device_traces"], strict=True):
        test.assertEqual([event(one) for one in new], [event(one) for one in old if one["action"] in ACTIONS])
    test.assertEqual(sorted(map(segment, second["segments"])), sorted(map(segment, first["segments"])))


def load(path):
    with open(path, "rb") as file:
        return whole(pickle.load(file))


def whole(snapshot):
    """With what older versions leave to their readers: where blocks begin, what they were asked for, one pool for all."""
    for segment in snapshot["segments"]:
        segment.setdefault("segment_pool_id", (0, 0))
        segment.setdefault("is_expandable", False)
        begin = segment["address"]
        for block in segment["blocks"]:
            asked = block["history"][0]["real_size"] if "history" in block else 0
            begin = block.setdefault("address", begin) + block["size"]
            block.setdefault("requested_size", asked)
            block.setdefault("frames", [])
    return snapshot
