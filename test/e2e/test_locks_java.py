"""icewright and Flink's own lock classes in one database or ZooKeeper: each waits for the other; holders die."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

import harness


def service(name, folder):
    """Starts a server of its own; returns (port, stop)."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.chmod(folder, 0o755)  # the server may run as a user of its own
    script = str(harness.ROOT / f"tools/services/{name}.sh")
    subprocess.run([script, "start", f"{folder}/{name}", str(port)], check=True, stdout=subprocess.DEVNULL)
    return port, lambda: subprocess.run([script, "stop", f"{folder}/{name}"], check=True)


class Place:
    """Where locks are: as icewright and as the referee spell it."""

    def __init__(self, name, flags, java):
        self.name, self.flags, self.java = name, flags, java

    def query(self, *flags):
        """What Java's isHeld says."""
        java = harness.Java.shared()
        java.start(" ".join([self.java, "--query", *flags]))
        code, lines = java.finish()
        assert code == 0, code
        return lines[0]["held"]

    def unlock(self):
        """What a Flink job does that starts without state."""
        java = harness.Java.shared()
        java.start(f"{self.java} --unlock")
        assert java.finish()[0] == 0

    def try_lock(self):
        """Java takes and frees the lock; False: another holds it."""
        java = harness.Java.shared()
        java.start(f"{self.java} --hold 0")
        code, _ = java.finish()
        assert code in (0, 3), code
        return code == 0


@contextlib.contextmanager
def places(folder):
    """One of each kind."""
    stops = []
    try:
        common = ["--lock-id", "db.t", "--lock-property", "jdbc.init-lock-table=true"]
        file = f"jdbc:sqlite:{folder}/locks.db"
        found = [Place("sqlite", ["--lock-uri", file, *common], f"lock-jdbc --uri {file} --lock-id db.t --init")]
        port, stop = service("postgres", folder)
        stops.append(stop)
        secret = pathlib.Path(folder) / "user"
        secret.write_text("postgres\n")
        url = f"jdbc:postgresql://127.0.0.1:{port}/postgres"
        found.append(Place("postgres", ["--lock-uri", url, "--lock-property", f"jdbc.user=${{file:{secret}}}", *common],
                           f"lock-jdbc --uri {url} --user postgres --lock-id db.t --init"))
        port, stop = service("mariadb", folder)
        stops.append(stop)
        url = f"jdbc:mariadb://127.0.0.1:{port}/iceberg"
        os.environ["LOCK_PASSWORD"] = "test"
        found.append(Place("mariadb", ["--lock-uri", f"{url}?user=iceberg", "--lock-property",
                                       "jdbc.password=${env:LOCK_PASSWORD}", *common],
                           f"lock-jdbc --uri {url} --user iceberg --password test --lock-id db.t --init"))
        port, stop = service("zookeeper", folder)
        stops.append(stop)
        found.append(Place("zookeeper", ["--lock-uri", f"zookeeper://127.0.0.1:{port}", "--lock-id", "db.t",
                                         "--lock-property", "zookeeper.session-timeout-ms=2000"],
                           f"lock-zk --connect 127.0.0.1:{port} --lock-id db.t"))
        yield found
    finally:
        for stop in stops:
            stop()


class Blocked:
    """An icewright that holds the lock and waits: its table's version hint is a pipe that nobody writes to."""

    def __init__(self, folder, place, lease="2s"):
        table = pathlib.Path(folder) / f"blocked-{place.name}"
        shutil.rmtree(table, ignore_errors=True)
        (table / "metadata").mkdir(parents=True)
        (table / "metadata/v1.metadata.json").write_text("{}")
        os.mkfifo(table / "metadata/version-hint.text")
        self.hint = table / "metadata/version-hint.text"
        self.process = subprocess.Popen([harness.ICEWRIGHT, "--output", "json", "expire-snapshots", str(table),
                                         *place.flags, "--lock-lease", lease],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def let_go(self):
        """The pipe is closed without a word; returns (exit code, output)."""
        with contextlib.suppress(OSError):
            os.close(os.open(self.hint, os.O_WRONLY | os.O_NONBLOCK))
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out + err

    def kill(self):
        self.process.kill()
        self.process.communicate()


def wait_until(condition, seconds=30, what="it"):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        time.sleep(0.05)


def show(program, place, *flags):
    return program.run("lock", "show", *place.flags, *flags)[1]


def java_holds_and_icewright_waits(folder):
    java = harness.Java.shared()
    with harness.fixtures(), places(folder) as found:
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("append_v2").id
        for place in found:
            free = show(program, place)
            assert free["held"] is False and free["owner"] is None and free["lease"] is None, free
            java.start(f"{place.java} --hold 4")
            assert java.line()["acquired"] is True
            state = show(program, place)
            assert state["held"] is True and state["owner"] is None and state["lease"] is None, state
            assert "Flink" in state["diagnosis"] and "--force" in state["diagnosis"], state
            command = ["expire-snapshots", table, *place.flags, "--no-flink-guard"]
            code, output = program.run(*command, check=False)
            assert code == 7 and output["error"]["code"] == "lock-held", (place.name, code, output)
            code, output = program.run("lock", "release", *place.flags, check=False)
            assert code == 7 and "--force" in output["error"]["message"], output
            code, output = program.run(*command, "--lock-wait", "60s", check=False)
            assert code == 0, (place.name, code, output)
            assert java.finish() == (0, [{"released": True, "held": False}]), place.name
            assert show(program, place)["held"] is False
            # A job that died: the lock stays until somebody says so.
            java.start(f"{place.java} --hold 0 --keep")
            assert java.finish()[0] == 0
            assert program.run(*command, "--lock-wait", "2s", check=False)[0] == 7
            code, output = program.run("lock", "release", "--force", *place.flags)
            assert output["released"] is True and "by force" in output["warning"], output
            assert program.run(*command, check=False)[0] == 0
            # A job that recovers.
            java.start(f"{place.java} --recovery --hold 0 --keep")
            assert java.finish()[0] == 0
            assert show(program, place)["recovery"]["held"] is True
            assert program.run(*command, check=False)[0] == 7
            program.run("lock", "release", "--force", "--recovery", *place.flags)
            assert program.run(*command, check=False)[0] == 0


def icewright_holds_and_java_waits(folder):
    program = harness.Program(folder)
    with places(folder) as found:
        for place in found:
            show(program, place)  # makes the table
            holder = Blocked(folder, place)
            wait_until(lambda: show(program, place)["held"], what="the acquisition")
            assert place.query() is True and place.query("--recovery") is False
            assert place.try_lock() is False
            state = show(program, place)
            assert state["owner"].endswith(f"pid {holder.process.pid}"), state
            assert state["since"] and state["lease"]["over"] is False, state
            time.sleep(3)  # longer than its lease: it has a heartbeat
            assert place.try_lock() is False, place.name
            assert show(program, place)["lease"]["over"] is False
            code, output = holder.let_go()
            assert code not in (0, 7), output  # that was no table
            assert place.try_lock() is True, place.name

            # Killed: Java waits, until an icewright frees it after the lease.
            holder = Blocked(folder, place)
            wait_until(lambda: show(program, place)["held"], what="the acquisition")
            holder.kill()
            killed = time.monotonic()
            assert place.try_lock() is False, place.name
            wait_until(lambda: show(program, place)["lease"]["over"], what="the end of the lease")
            assert time.monotonic() - killed < 15, "stuck beyond its lease"
            assert place.query() is True, "Java does not see leases"
            code, output = program.run("lock", "release", *place.flags)
            assert code == 0 and output["released"] is True, output
            assert place.try_lock() is True, place.name


def a_holder_that_java_cleared_stops(folder):
    program = harness.Program(folder)
    with places(folder) as found:
        for place in found:
            show(program, place)
            holder = Blocked(folder, place)
            wait_until(lambda: show(program, place)["held"], what="the acquisition")
            place.unlock()
            time.sleep(1.5)  # a heartbeat or two
            code, output = holder.let_go()
            assert code == 7 and "lock" in output, (place.name, code, output)
            assert show(program, place)["held"] is False


def a_stopped_process_does_not_commit_after_its_lease(folder):
    """SIGSTOP in the middle of a compaction, another one takes the lock, SIGCONT: nothing is written any more."""
    with harness.fixtures():
        stop_in_the_middle(folder, harness.Program(folder, harness.catalogs()), harness.Table("append_v2"))


def stop_in_the_middle(folder, program, table):
    file = f"{folder}/locks.db"
    flags = ["--lock-uri", f"jdbc:sqlite:{file}", "--lock-id", "db.t", "--lock-property", "jdbc.init-lock-table=true"]
    program.run("lock", "show", *flags)

    def is_held():
        with contextlib.closing(sqlite3.connect(file)) as db:
            return db.execute("SELECT count(*) FROM flink_maintenance_lock").fetchone()[0] == 1

    for attempt in range(20):
        before = table.metadata_file()
        process = subprocess.Popen([harness.ICEWRIGHT, "--config", str(program.config), "--output", "json",
                                    "rewrite-data-files", table.id, "--rewrite-all", *flags, "--lock-lease", "1s"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not is_held():
            pass
        process.send_signal(signal.SIGSTOP)
        stopped_in_time = process.poll() is None and is_held()
        if stopped_in_time:
            time.sleep(1.5)
            code, output = program.run("expire-snapshots", table.id, "--retain-last", "1000", *flags, check=False)
            assert code == 0, output
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=60)
        if stopped_in_time and process.returncode != 0:
            assert process.returncode == 7, (process.returncode, out, err)
            assert table.metadata_file() == before, "it committed without the lock"
            return
    raise AssertionError("no process was stopped between its lock and its commit")


harness.main(java_holds_and_icewright_waits, icewright_holds_and_java_waits, a_holder_that_java_cleared_stops,
             a_stopped_process_does_not_commit_after_its_lease)
