# tools/python/vramscope/dask_job.py — the driver of `vramscope job --dask`: logs are reduced where they lie, tables joined in a tree.
"""Usage: dask_job.py ADDRESS FILE...

Writes one line of JSON, and behind it the joined table, if there is one: the line is a list of why files could not be
read, or one text: why there is nothing. The scheduler, its workers and what they try again are Dask's. What a worker
runs is `vramscope reduce`, which it needs in its PATH; functions come to it by value, so that nothing is installed.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time

TABLE_HEAD = b'{"type":"reduced","version":'
FAN_IN = 32  # tables of one join: no process has all of them but the last
ANSWER_SECONDS = 10
POLL_SECONDS = 0.1
GONE_SECONDS = 30  # a task whose workers are gone for so long is given up


def head_of(path, size):
    """Its first bytes; none of what is no regular file, as of a FIFO, or cannot be read."""
    try:
        with open(path if os.path.isfile(path) else os.devnull, "rb") as file:
            return file.read(size)
    except OSError:
        return b""


def may_be_table(path):
    """Of what is empty, of zeros or cannot be read nobody knows what it was."""
    if os.path.exists(path) and not os.path.isfile(path):
        return False
    head = head_of(path, len(TABLE_HEAD))
    return head[:1] in (b"", b"\0") or TABLE_HEAD.startswith(head)


def owners_of(table):
    """The pid of each of its processes, and when it began."""
    try:
        with open(table, "rb") as file:
            for line in file:
                if line.startswith(b'{"type":"process",'):
                    process = json.loads(line)
                    yield process["pid"], process["started_ns"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # whoever reads it says what is wrong


def has_table(log, owners, tables):
    """Whether it is reduced: by what it says of its process, or else by its name."""
    head = head_of(log, 56)
    if len(head) == 56 and head.startswith(b"VRAMSLOG"):
        pid, started = struct.unpack_from("<I20xQ", head, 24)  # of FileHeader
        if started:
            return (pid, started) in owners
    return re.sub(r"\.zst$", "", log) + ".jsonl" in tables or log + ".jsonl" in tables


def find_files(arguments):
    """On a worker: [path, what tells it from another file of that name on another host] of what is there."""
    found = []
    for argument in arguments:
        paths = [argument]
        if os.path.isdir(argument):
            inside = sorted(os.path.join(argument, name) for name in os.listdir(argument))
            logs = [path for path in inside if re.search(r"\.vsl(\.\d+)?(\.zst)?$", path)]
            logs = [path for path in logs if not (path.endswith(".zst") and path[:-4] in logs)]
            tables = [path for path in inside if path.endswith(".jsonl") and may_be_table(path)]
            owners = {owner for path in tables for owner in owners_of(path)} if logs else set()
            paths = tables + [log for log in logs if not has_table(log, owners, tables)]
        for path in paths:
            try:
                about = os.stat(path)
            except OSError:
                continue
            found.append((path, (about.st_ino, about.st_size, about.st_mtime_ns)))
    return found


def reduce_files(paths):
    """On a worker: one table of these logs and tables, as `vramscope reduce` writes it."""
    try:
        done = subprocess.run(["vramscope", "reduce", "--", *paths], stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise RuntimeError(f"vramscope: its worker cannot run vramscope: {error.strerror}") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"vramscope reduce ended with {done.returncode}"]
        raise RuntimeError(said[-1])
    return done.stdout


def join_tables(*tables):
    """On a worker: these tables as one."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{at}.jsonl") for at in range(len(tables))]
        for path, table in zip(paths, tables):
            with open(path, "wb") as file:
                file.write(table)
        return reduce_files(paths)


def settle(client, workers_of):
    """Waits until each of these futures is done, or none of the workers that may run it has been there for a while."""
    gone_since = {}
    while left := [future for future in workers_of if future.status in ("pending", "lost")]:  # lost: it is made once more
        time.sleep(POLL_SECONDS)
        alive = set(client.ncores())
        for future in left:
            if alive & workers_of[future] if workers_of[future] else alive:
                gone_since.pop(future, None)
            elif time.monotonic() - gone_since.setdefault(future, time.monotonic()) > GONE_SECONDS:
                future.cancel()


def why(future):
    """Why it has no table; None: it has one."""
    if future.status in ("finished", "lost"):  # what is lost later is made once more when it is asked for
        return None
    error = future.exception() if future.status == "error" else None
    if isinstance(error, RuntimeError):
        return re.sub("^vramscope: (error: )?", "", str(error))
    return f"its worker died ({type(error).__name__})" if error else "its worker is gone"


def reduced(client, arguments):
    """[a table, its paths] as futures, and why the rest could not be read."""
    seen = {}
    on_workers = client.run(find_files, arguments)
    for worker, files in on_workers.items():
        for path, identity in files:
            seen.setdefault((path, identity), set()).add(worker)
    paths = {path for path, _ in seen}
    lost = [f"{argument}: no worker sees it" for argument in arguments
            if argument not in paths and not any(path.startswith(os.path.join(argument, "")) for path in paths)]
    workers_of, path_of = {}, {}
    for (path, _), workers in sorted(seen.items()):
        # What all of them see may be read by one that comes in a dead one's place.
        some = None if len(workers) == len(on_workers) else workers
        future = client.submit(reduce_files, [path], workers=some and sorted(some), pure=False)
        workers_of[future], path_of[future] = some, path
    settle(client, workers_of)
    for future, path in path_of.items():
        if reason := why(future):
            lost.append(reason if path in reason else f"{path}: {reason}")
    return [(future, [path]) for future, path in path_of.items() if why(future) is None], lost


def joined(client, tables, lost):
    """One future of all tables; None: there is none. What is lost on the way is added to `lost`."""
    while len(tables) > 1:
        groups = [tables[at : at + FAN_IN] for at in range(0, len(tables), FAN_IN)]
        futures = [client.submit(join_tables, *(future for future, _ in group), pure=False) for group in groups]
        settle(client, {future: None for future in futures})
        tables = []
        for future, group in zip(futures, groups):
            paths = [path for _, some in group for path in some]
            reason = why(future)
            if reason is None:
                tables.append((future, paths))
            else:
                lost.extend(f"{path}: {reason}" for path in paths)
    return tables[0][0] if tables else None


def main():
    address, *arguments = sys.argv[1:]
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what others print goes there

    def end(first, table=b""):
        out.write(json.dumps(first).encode() + b"\n" + table)
        out.flush()
        os._exit(0)  # nothing of ours is left to be ended, and a cluster that is gone is waited for

    try:
        from distributed import Client
    except ImportError:
        end(f"{sys.executable} has no `distributed`: install python3-distributed, or dask's by pip")
    nobody = f"no Dask cluster answers at {address} within {ANSWER_SECONDS} seconds"
    # Distributed 2024.12 waits for ever for one that takes the connection and says nothing.
    watchdog = threading.Timer(ANSWER_SECONDS + 2, end, [nobody])
    watchdog.daemon = True
    watchdog.start()
    try:
        client = Client(address, timeout=ANSWER_SECONDS)
        watchdog.cancel()
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except Exception as error:  # of many kinds, by what is wrong with the address
        end(f"{nobody}: {type(error).__name__}")
    try:
        tables, lost = reduced(client, arguments)
        future = joined(client, tables, lost)
        table = future.result() if future else b""
    except Exception as error:
        end(f"the Dask cluster at {address} was lost: {type(error).__name__}")
    end(lost, table)


if __name__ == "__main__":
    main()
