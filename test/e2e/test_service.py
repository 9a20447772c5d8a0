"""`icewright run`: a stream of commits stays compact, signals are obeyed, a killed service goes on where it was."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time

import harness
import race
from service import Service

COMPACT = {"min-input-files": 2, "schedule": {"commit-count": 4}}
EXPIRE = {"retain-last": 3, "max-snapshot-age": "0s", "schedule": {"interval": "3s"}}
ORPHANS = {"min-age": "1h", "force-min-age": True, "schedule": {"interval": "4s"}}
STREAM_SECONDS = float(os.environ.get("STREAM_SECONDS", 12))
LOCK = {"type": "jdbc", "jdbc.init-lock-table": "true"}


def a_stream_is_kept_compact(folder):
    lock = LOCK | {"jdbc.uri": f"jdbc:sqlite:{folder}/locks.db"}
    service = Service(folder, {"race.w.*": {"rate-limit": "500ms", "lock-check-delay": "100ms", "lock": lock,
                                            # A compaction that lost to the writer comes again soon.
                                            "retry-delay": "500ms", "retry-max-delay": "2s",
                                            "rewrite-data-files": COMPACT, "expire-snapshots": EXPIRE,
                                            "delete-orphan-files": ORPHANS}})
    program = service.program()
    race.create(program, ("race.w.t",))
    orphan = service.folder / "warehouse/w/t/data/left-by-a-job-that-died.parquet"
    orphan.parent.mkdir(parents=True, exist_ok=True)
    orphan.write_text("no table names this file")
    os.utime(orphan, (time.time() - 2 * 86400,) * 2)
    peer = {"uri": f"sqlite:///{service.database}", "catalog": "race", "warehouse": service.warehouse}
    service.start()
    writer = race.Writer(folder, "t", table="w.t", seed=5, first_id=1, actions=["append", "append", "delete", "overwrite"],
                         **peer)
    time.sleep(STREAM_SECONDS)
    model = writer.finish()
    service.wait_for(lambda: any(run["task"] == "expire-snapshots" and run["outcome"] == "done" for run in service.runs()))
    service.wait_for(lambda: not orphan.exists())
    time.sleep(1)
    service.stop()

    runs = service.runs()
    compactions = [run for run in runs if run["task"] == "rewrite-data-files" and run["outcome"] == "done"]
    print(f"  {model['commits']} commits, {model['conflicts']} conflicts of the writer; {len(runs)} runs, "
          f"{len(compactions)} compactions")
    assert len(compactions) >= 2, runs
    assert [run["run-id"] for run in runs] == list(range(1, len(runs) + 1)), runs
    assert all(run["ended"] >= run["started"] and run["outcome"] != "running" for run in runs), runs
    assert any(run["counts"].get("rewritten-bytes", 0) > 0 and run["snapshot-ids"] for run in compactions), compactions
    _, digest = program.run("scan", "race.w.t", "--digest")
    want = race.row_digest(model["rows"])
    assert {"count": digest["rows"], "digest": digest["digest"]} == want, f"icewright reads {digest}, expected {want}"
    _, files = program.run("inspect", "race.w.t", "data-files")
    assert len(files) < max(25, model["commits"] // 3), f"{len(files)} files after {model['commits']} commits"
    _, snapshots = program.run("inspect", "race.w.t", "snapshots")
    assert len(snapshots) < model["commits"], f"{len(snapshots)} snapshots after {model['commits']} commits"
    with contextlib.closing(sqlite3.connect(f"{folder}/locks.db")) as db:
        assert db.execute("SELECT count(*) FROM flink_maintenance_lock").fetchone() == (0,), "a lock was left behind"


def signals_and_mistakes(folder):
    interval = {"rate-limit": "200ms", "expire-snapshots": {"schedule": {"interval": "400ms"}}}
    service = Service(folder, {"race.w.a": interval})
    race.create(service.program(), ("race.w.a",), ("race.w.b",))
    service.start()
    service.wait_for("race.w.a: run 1 of expire-snapshots starts: interval")
    service.configure({"race.w.*": interval | {"rewrite-data-file": {}}})
    service.process.send_signal(signal.SIGHUP)
    service.wait_for("the old configuration stays")
    assert "did you mean 'rewrite-data-files'?" in service.text(), service.text()
    service.maintenance["http"] = {"prot": 0}
    service.configure({"race.w.*": interval})
    service.process.send_signal(signal.SIGHUP)
    service.wait_for("did you mean 'port'?")
    service.maintenance["http"] = {"port": 0, "listen": "127.0.0.2"}
    service.configure({"race.w.*": interval})
    service.process.send_signal(signal.SIGHUP)
    service.wait_for("maintenance.http has changed: that counts from the next start")
    service.wait_for("reloaded: maintains 2 table(s)")
    service.wait_for(lambda: "race.w.b: run" in service.text())
    race.create(service.program(), ("race.w.c",))
    service.wait_for(lambda: "race.w.c: run" in service.text())  # found without a reload
    service.stop()
    assert "stopped" in service.text().splitlines()[-1], service.text()

    bad = subprocess.run([harness.ICEWRIGHT, "run", "--config", str(service.config), "--check"], capture_output=True, text=True)
    assert bad.stdout.splitlines() == [f"race.w.{t}: expire-snapshots" for t in "abc"], bad
    service.configure({"race.w.*": {"rewrite-data-file": {}}})
    bad = subprocess.run([harness.ICEWRIGHT, "run", str(service.config)], capture_output=True, text=True)
    assert bad.returncode == 2 and "rewrite-data-files" in bad.stderr, bad


def a_killed_service_goes_on(folder):
    lock = LOCK | {"jdbc.uri": f"jdbc:sqlite:{folder}/locks.db"}
    tables = {"race.w.*": {"rate-limit": "200ms", "lock-check-delay": "100ms", "lock-lease": "2s", "lock": lock,
                           "rewrite-data-files": {"min-input-files": 2, "schedule": {"commit-count": 2}}}}
    service = Service(folder, tables)
    program = service.program()
    race.create(program, ("race.w.t",))
    peer = {"uri": f"sqlite:///{service.database}", "catalog": "race", "warehouse": service.warehouse}
    writer = race.Writer(folder, "t", table="w.t", seed=6, first_id=1, actions=["append"], **peer)
    try:
        for round in range(4):
            service.start()
            before = service.text().count("starts: ")
            service.wait_for(lambda: service.text().count("starts: ") > before)
            os.kill(service.process.pid, signal.SIGKILL)
            service.process.wait()
    finally:
        model = writer.finish()
    service.start()
    before = len(service.runs())
    service.wait_for(lambda: all(run["outcome"] != "running" for run in service.runs()))
    time.sleep(3)
    service.stop()
    outcomes = [run["outcome"] for run in service.runs()]
    print(f"  outcomes of runs: {outcomes}")
    assert "running" not in outcomes and "done" in outcomes, outcomes
    _, digest = program.run("scan", "race.w.t", "--digest")
    want = race.row_digest(model["rows"])
    assert {"count": digest["rows"], "digest": digest["digest"]} == want, f"icewright reads {digest}, expected {want}"
    ids = [run["run-id"] for run in service.runs()]
    assert ids == sorted(set(ids)), ids


harness.main(a_stream_is_kept_compact, signals_and_mistakes, a_killed_service_goes_on)
