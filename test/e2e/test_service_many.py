"""A thousand tables in one `icewright run`; and a service whose lock database goes away under it."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import time

import harness
import race
from service import Service, commits, stopped_child

TABLES, ROUND_S = 1000, 3
LEASE_S, DELAY_S = 5.0, 0.3


class Postgres:
    """A server of its own for locks."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        os.chmod(folder, 0o755)  # the server may run as a user of its own
        self.folder = f"{folder}/postgres"
        self.lock = {"type": "jdbc", "jdbc.init-lock-table": "true", "jdbc.user": "postgres",
                     "jdbc.uri": f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"}

    def do(self, what):
        port = [str(self.port)] if what == "start" else []
        subprocess.run([str(harness.ROOT / "tools/services/postgres.sh"), what, self.folder, *port], check=True,
                       stdout=subprocess.DEVNULL)

    def __enter__(self):
        self.do("start")
        return self

    def __exit__(self, *_):
        self.do("stop")

    def query(self, sql):
        return subprocess.run(["psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-Atc", sql], check=True,
                              capture_output=True, text=True).stdout.strip()


def resident_bytes(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def last_looks(service):
    """Of all tables, or nothing while some are still to come."""
    tables = service.json("api/tables?limit=1000")["tables"]
    looks = [table["last_look"] for table in tables]
    return looks if len(looks) == TABLES and all(looks) else None


def a_thousand_tables(folder):
    with Postgres(folder) as locks:
        service = Service(folder, {"race.w.*": {"rate-limit": f"{ROUND_S}s", "lock": locks.lock,
                                                "rewrite-data-files": {"schedule": {"commit-count": 100}},
                                                "expire-snapshots": {"schedule": {"interval": "1h"}}}})
        race.create(service.program(), ("race.w.t",))
        commits(service, 3)
        with contextlib.closing(sqlite3.connect(service.database)) as db, db:
            location, = db.execute("SELECT metadata_location FROM iceberg_tables").fetchone()
            db.executemany("INSERT INTO iceberg_tables VALUES ('race', 'w', ?, ?, NULL)",
                           [(f"t{n:04}", location) for n in range(1, TABLES)])
        service.start(discover="60s")
        service.wait_for(lambda: last_looks(service), 60, every=0.5)

        opened = (max(last_looks(service)) - min(last_looks(service))) / 1000

        # What a round of looks and decisions costs, in seconds of processor: the machine is shared. And no table is late.
        start, before = time.time(), cpu_seconds(service.process)
        time.sleep(ROUND_S)
        round = cpu_seconds(service.process) - before
        service.wait_for(lambda: min(last_looks(service)) >= start * 1000, every=0.5)
        late = float(re.search(r"^icewright_late_seconds (\S+)", service.get("metrics")[1], re.M).group(1))
        assert round < 2, f"a round of looks took {round} s"
        assert late < 10, f"a table waits for {late} s"

        assert "icewright_tables 1000" in service.get("metrics")[1]
        assert service.get("metrics/flink")[0] == 200
        time.sleep(ROUND_S + 1)  # a round without anybody asking
        memory = resident_bytes(service.process)
        assert memory < 50 << 20, f"{memory >> 20} MiB for {TABLES} idle tables"
        connections = int(locks.query("SELECT count(*) FROM pg_stat_activity WHERE client_port > 0 AND pid <> pg_backend_pid()"))
        assert 1 <= connections <= 4, f"{connections} connections to the database of the locks"
        print(f"  opened within {opened:.1f} s; a round of looks: {round:.2f} CPU s; {memory / 1e6:.1f} MB; {connections} lock connections")
        service.stop()


def the_lock_database_goes_away(folder):
    with Postgres(folder) as locks:
        service = Service(folder, {"race.w.t": {"rate-limit": "300ms", "lock-check-delay": f"{int(DELAY_S * 1000)}ms",
                                                "lock-lease": f"{int(LEASE_S)}s", "lock": locks.lock,
                                                "retry-delay": "300ms", "retry-max-delay": "300ms",
                                                "rewrite-data-files": {"min-input-files": 2, "schedule": {"commit-count": 2}}}})
        race.create(service.program(), ("race.w.t",))
        service.start()
        ended = lambda outcome: [run for run in service.runs() if run["outcome"] == outcome]
        service.wait_for(lambda: service.json("api/tables")["tables"][0]["last_look"])

        # Away while nothing runs: no run without the lock, and one soon after it is back.
        locks.do("stop")
        commits(service, 2)
        service.wait_for("the lock cannot be taken")
        time.sleep(1)
        assert not service.runs(), service.runs()
        locks.do("start")
        back = time.monotonic()
        service.wait_for(lambda: service.runs())
        waited = time.monotonic() - back
        assert waited < LEASE_S + DELAY_S + 1, f"waited {waited:.1f} s"
        service.wait_for(lambda: ended("done"))

        # Restarted during a run, sooner than the lease ends: the run does not notice.
        child = next_run(service)
        locks.do("stop")
        locks.do("start")
        os.kill(child, signal.SIGCONT)
        service.wait_for(lambda: len(ended("done")) == 2)

        # Away for longer than the lease: the run must not commit; a later one does.
        child = next_run(service)
        before = snapshots(service)
        locks.do("stop")
        time.sleep(LEASE_S + 1)
        os.kill(child, signal.SIGCONT)
        service.wait_for(lambda: ended("lock-lost"), 60)
        assert snapshots(service) == before, "a run without its lock has committed"
        locks.do("start")
        back = time.monotonic()
        service.wait_for(lambda: len(ended("done")) == 3)
        print(f"  back at work {time.monotonic() - back:.1f} s after the database; outcomes {[run['outcome'] for run in service.runs()]}")
        # The rest of the lease of the lost lock, one delay, and the run itself.
        assert time.monotonic() - back < LEASE_S + DELAY_S + 3
        assert service.program().run("scan", "race.w.t", "--digest")[1]["rows"] == service.first_id
        service.stop()
        assert locks.query("SELECT count(*) FROM flink_maintenance_lock") == "0", "a lock was left behind"


def next_run(service):
    """Makes a run due, and stops its process where it is."""
    child = stopped_child(service, lambda: commits(service, 2))
    service.wait_for(lambda: service.runs()[-1]["outcome"] == "running")
    return child


def snapshots(service):
    return len(service.program().run("inspect", "race.w.t", "snapshots")[1])


harness.main(a_thousand_tables, the_lock_database_goes_away)
