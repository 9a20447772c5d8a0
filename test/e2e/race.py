"""Writers and compactors on the same tables at the same time, and the count of what must be there afterwards."""

import hashlib
import json
import pathlib
import random
import struct
import subprocess
import threading

import harness

SCHEMA = "id:long!,data:string,cat:string,amount:double"
# Everyone retries for long: with many writers four retries, the default, are few.
RETRIES = ["--property", "commit.retry.num-retries=100", "--property", "commit.retry.min-wait-ms=10"]
# What a compaction under contention may say: done, conflict, partly done.
ALLOWED = {0, 3, 4}


def row_digest(rows):
    """Count and digest of rows of SCHEMA, as the referee defines it."""
    total = 0
    for number, data, cat, amount in rows:
        text = f"{number}|{len(data)}:{data}|{len(cat)}:{cat}|{struct.pack('>d', amount).hex()}"
        total += int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return {"count": len(rows), "digest": f"{total % 2**64:016x}"}


def sum_of(*parts):
    total = sum(int(part["digest"], 16) for part in parts) % 2**64
    return {"count": sum(part["count"] for part in parts), "digest": f"{total:016x}"}


def create(program, *tables):
    for table, *options in tables:
        program.run("create", table, "--schema", SCHEMA, *RETRIES, *options)


class Compactor(threading.Thread):
    """Compacts a table again and again, with different options."""

    OPTIONS = (["--min-input-files", "2"], ["--rewrite-all"],
               ["--rewrite-all", "--partial-progress.enabled", "--partial-progress.max-commits", "3"],
               ["--min-input-files", "2", "--verify"])

    def __init__(self, program, table, seed):
        super().__init__()
        self.program, self.table = program, table
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.stop = self.stopping.set
        self.codes = []
        self.snapshots = 0
        self.wrong = []

    def run(self):
        while not self.stopping.is_set():
            options = self.random.choice(self.OPTIONS)
            code, report = self.program.run("rewrite-data-files", self.table, *options, check=False)
            self.codes.append(code)
            if code not in ALLOWED:
                self.wrong.append(f"{self.table} {options}: exit {code}: {report}")
            elif report and "snapshot_ids" in report:
                self.snapshots += len(report["snapshot_ids"])
            self.stopping.wait(self.random.uniform(0.1, 0.5))

    def finish(self, at_least=5):
        """Stops; all runs must have ended well, with this many commits among them."""
        self.stopping.set()
        self.join()
        assert not self.wrong, "\n".join(self.wrong)
        assert self.snapshots >= at_least, f"{self.table}: only {self.snapshots} commits, exit codes {self.codes}"


class Writer:
    """A PyIceberg process."""

    def __init__(self, folder, name, **request):
        stop = pathlib.Path(folder) / f"stop-{name}"
        self.stop = stop.touch
        self.process = subprocess.Popen(
            [str(harness.PEERS_PYTHON), "-W", "ignore", str(harness.ROOT / "test/e2e/peer_writer.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps({**request, "stop": str(stop)}))
        self.process.stdin.close()
        self.process.stdin = None

    def finish(self):
        self.stop()
        out, err = self.process.communicate()
        assert self.process.returncode == 0, f"PyIceberg's writer failed:\n{err}"
        result = json.loads(out)
        assert result["commits"] >= 5, f"PyIceberg: {result['commits']} commits, {result['conflicts']} conflicts"
        return result


class Once(threading.Thread):
    """One compaction in the background."""

    def __init__(self, program, table, options):
        super().__init__()
        self.arguments = program, table, options
        self.code = None
        self.report = None

    def run(self):
        program, table, options = self.arguments
        self.code, self.report = program.run("rewrite-data-files", table, *options, check=False)
