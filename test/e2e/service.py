"""One `icewright run` for tests: its configuration, its log, its state and its address."""

import concurrent.futures
import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request

import harness


def die_with_parent():
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Service:
    """One `icewright run` with a configuration, its log and its state."""

    def __init__(self, folder, tables, name="service", **maintenance):
        self.folder = pathlib.Path(folder)
        self.database, self.warehouse = self.folder / "catalog.db", f"file:{folder}/warehouse"
        self.catalog = {"race": {"type": "jdbc", "uri": f"jdbc:sqlite:{self.database}", "warehouse": self.warehouse}}
        self.config = self.folder / f"{name}.yaml"
        self.log = self.folder / f"{name}.log"
        self.state = self.folder / "state.db"
        self.maintenance = {"state": str(self.state), "stop-grace": "2s", "http": {"port": 0}, **maintenance}
        self.configure(tables)
        self.process = None

    def configure(self, tables):
        self.config.write_text(json.dumps({"catalog": self.catalog, "maintenance": self.maintenance | {"tables": tables}}))

    def start(self, discover="500ms"):
        self.log_start = len(self.text())
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([harness.ICEWRIGHT, "run", str(self.config), "--discover-interval", discover],
                                            stderr=log, stdout=log, preexec_fn=die_with_parent)
        return self

    def text(self):
        return self.log.read_text() if self.log.exists() else ""

    def wait_for(self, what, seconds=30, every=0.05):
        until = time.monotonic() + seconds
        while not (what() if callable(what) else what in self.text()):
            assert self.process.poll() is None, f"the service ended: {self.text()}"
            assert time.monotonic() < until, f"{what} did not come:\n{self.text()}"
            time.sleep(every)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        assert code == 0, f"exit {code}:\n{self.text()}"

    def address(self):
        """Of the status page, since the last start."""
        find = lambda: re.findall(r"status page: (http://\S+/)", self.text()[self.log_start:])
        self.wait_for(find)
        return find()[0]

    def get(self, path, **headers):
        """Returns (status, text)."""
        return self.request(urllib.request.Request(self.address() + path, headers=headers))

    def post(self, path, body, **headers):
        data = json.dumps(body).encode()
        return self.request(urllib.request.Request(self.address() + path, data=data, headers=headers, method="POST"))

    @staticmethod
    def request(request):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def json(self, path):
        status, text = self.get(path)
        assert status == 200, f"{path}: {status} {text}"
        return json.loads(text)

    def runs(self):
        with contextlib.closing(sqlite3.connect(self.state)) as db:
            return [json.loads(row[0]) for row in db.execute("SELECT record FROM icewright_run ORDER BY run_id")]

    def program(self):
        return harness.Program(self.folder, self.catalog)


def commits(service, count, rows=20):
    """Commits of a small file each."""
    service.first_id = getattr(service, "first_id", 0)
    harness.peer("peer_commits.py", {"uri": f"sqlite:///{service.database}", "catalog": "race", "warehouse": service.warehouse,
                                     "table": "w.t", "commits": count, "rows": rows, "first_id": service.first_id})
    service.first_id += count * rows


def stopped_child(service, cause, seconds=60):
    """Calls `cause`, which makes a run due, and stops the process of that run where it is; returns its id."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        causing = pool.submit(cause)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for children in pathlib.Path(f"/proc/{service.process.pid}/task").glob("*/children"):
                for child in children.read_text().split():
                    os.kill(int(child), signal.SIGSTOP)
                    causing.result()
                    return int(child)
            time.sleep(0.002)
    raise AssertionError(f"no run came:\n{service.text()}")
