"""A small table in a catalog of its own, changed commit by commit by real Iceberg, compacted by icewright."""

import contextlib
import json
import pathlib
import signal
import sqlite3
import subprocess
import time

import harness


class Table:
    """Table c.n.NAME. Java changes it with words of its `commit` command, PyIceberg by peer scripts."""

    def __init__(self, folder, name, schema, *options):
        self.folder, self.name = pathlib.Path(folder), name
        self.database = self.folder / "catalog.db"
        warehouse = f"file:{folder}/warehouse"
        self.program = harness.Program(folder, {"c": {"type": "jdbc", "uri": f"jdbc:sqlite:{self.database}", "warehouse": warehouse}})
        self.id = f"c.n.{name}"
        self.program.run("create", self.id, "--schema", schema, *options)
        self.path = self.folder / "warehouse/n" / name
        self.java_args = f"{warehouse} n.{name} --catalog jdbc --uri jdbc:sqlite:{self.database} --catalog-name c"

    def commit(self, *changes):
        """One commit by Java; see the referee's README."""
        where, _, options = self.java_args.partition(" --")
        words = " ".join(f"'{change}'" for change in changes)
        return harness.Java.shared().call(f"commit {where} {words} --{options}")

    def peer(self, **request):
        """One step by PyIceberg; see peer_steps.py."""
        return harness.peer("peer_steps.py", {"uri": f"sqlite:///{self.database}", "catalog": "c", "table": f"n.{self.name}", **request})

    def rows(self, *options):
        """What a scan shows, sorted: [[value, ...], ...]."""
        _, out = self.program.run("scan", self.id, *options)
        lines = [out] if isinstance(out, dict) else [json.loads(line) for line in (out or "").splitlines()]
        return sorted((list(line.values()) for line in lines), key=str)

    def compact(self, *options, check=True):
        return self.program.run("rewrite-data-files", self.id, *options, check=check)

    def dump(self):
        return harness.Java.shared().call(f"dump {self.java_args}")

    def pointer(self):
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            query = "SELECT metadata_location FROM iceberg_tables WHERE table_name = ?"
            return db.execute(query, [self.name]).fetchone()[0]

    def expect(self, rows, step=""):
        """icewright and Java see these rows, and Java finds no damage. Returns Java's dump."""
        got = self.rows()
        assert got == sorted(rows, key=str), f"{self.name} {step}: icewright reads {got}, expected {rows}"
        dump = self.dump()
        _, digest = self.program.run("scan", self.id, "--digest")
        assert (dump["rows"]["count"], dump["rows"]["digest"]) == (digest["rows"], digest["digest"]), f"{self.name} {step}: {dump['rows']}, {digest}"
        problems = harness.Java.shared().call(f"check {self.java_args} --soft")["problems"]
        assert problems == [], f"{self.name} {step}: {problems}"
        return dump

    def compact_and_expect(self, rows, *options):
        """The rows before a compaction of everything, and after it."""
        self.expect(rows, "before")
        _, report = self.compact("--rewrite-all", *options)
        assert report["outcome"] == "done", report
        return self.expect(rows, "after")

    def stop_without_locks(self, process):
        """SQLite takes a read lock at each of its tries: stopped there, the process would block everyone."""
        inode = f":{self.database.stat().st_ino} "
        for _ in range(1000):
            process.send_signal(signal.SIGSTOP)
            while pathlib.Path(f"/proc/{process.pid}/stat").read_text().split(") ")[1][0] != "T":
                time.sleep(0.001)
            locks = pathlib.Path("/proc/locks").read_text().splitlines()
            if not any(inode in line and f" {process.pid} " in line for line in locks):
                return
            process.send_signal(signal.SIGCONT)
            time.sleep(0.003)
        raise AssertionError("the process never let go of the catalog")

    @contextlib.contextmanager
    def paused_before_its_commit(self, *options):
        """Starts a compaction and holds it when all files are written and only the catalog is left to change.

        Yields a dictionary; after the block it has the exit code and the report. The catalog's write lock
        makes the compaction wait, then a signal does.
        """
        metadata = self.path / "metadata"
        before = set(metadata.glob("*.metadata.json"))
        result = {}
        with contextlib.closing(sqlite3.connect(self.database, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            process = subprocess.Popen(
                [harness.ICEWRIGHT, "--config", str(self.program.config), "--output", "json", "rewrite-data-files", self.id, *options],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and set(metadata.glob("*.metadata.json")) == before:
                time.sleep(0.002)
            assert process.poll() is None, process.communicate()
            self.stop_without_locks(process)
            db.execute("ROLLBACK")
        try:
            yield result
        finally:
            process.send_signal(signal.SIGCONT)
            out, err = process.communicate()
        result["code"], result["report"] = process.returncode, json.loads(out)
