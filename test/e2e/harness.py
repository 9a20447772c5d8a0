"""What whole-system tests share: the program, the Java referee, and fresh fixture tables."""

import contextlib
import fcntl
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ICEWRIGHT = os.environ.get("ICEWRIGHT", str(ROOT / "build/release/bin/icewright"))
ORACLE = ROOT / ".cache/oracle"
PEERS_PYTHON = ROOT / ".venv-peers/bin/python"
# The place that the fixtures' metadata names.
FIXTURES = pathlib.Path("/tmp/iceberg-fixtures")
ARCHIVES = [ROOT / "test/golden/iceberg-fixtures.tar.zst", ROOT / "test/golden/iceberg-fixtures-others.tar.zst"]


@contextlib.contextmanager
def fixtures():
    """Fresh fixture tables at their recorded place, for one test at a time."""
    with open("/tmp/iceberg-fixtures.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        unpack_fixtures()
        yield FIXTURES


def unpack_fixtures():
    for child in FIXTURES.glob("*"):
        shutil.rmtree(child) if child.is_dir() else child.unlink()
    for archive in ARCHIVES:
        subprocess.run(["tar", "-C", "/tmp", "--zstd", "-xf", str(archive)], check=True)


def fixture_names():
    """Names as the expectations spell them: "flights", "ot_spark_mor_v2"."""
    return sorted(path.name for path in (FIXTURES / "expected").iterdir())


def expected(name, ref=None):
    path = FIXTURES / "expected" / name / (f"expected-{ref}.json" if ref else "expected.json")
    return json.loads(path.read_text())


def catalogs():
    """Catalog properties of the two SQL catalogs that some fixtures are in."""
    return {
        "oracle": {"type": "jdbc", "uri": f"jdbc:sqlite:{FIXTURES}/catalog.db", "warehouse": f"file:{FIXTURES}"},
        "ot": {"type": "jdbc", "uri": f"jdbc:sqlite:{FIXTURES}/ot.db", "warehouse": f"file:{FIXTURES}"},
    }


class Table:
    """One fixture: how icewright and Java name it."""

    def __init__(self, name):
        self.name = name
        folder = name.removeprefix("ot_")
        space = "ot" if name.startswith("ot_") else "jd" if name == "jdbc_v2" else "fx"
        self.path = FIXTURES / space / folder
        versions = list((self.path / "metadata").glob("v*.metadata.json"))
        self.in_sql_catalog = not versions
        catalog = "ot" if space == "ot" else "oracle"
        self.id = f"{catalog}.{space}.{folder}" if self.in_sql_catalog else str(self.path)
        self.oracle_args = f"file:{FIXTURES} {space}.{folder}"
        if self.in_sql_catalog:
            db = "ot.db" if catalog == "ot" else "catalog.db"
            self.oracle_args += f" --catalog jdbc --uri jdbc:sqlite:{FIXTURES}/{db} --catalog-name {catalog}"


class Program:
    """The icewright program with a configuration of its own."""

    def __init__(self, folder, config=None):
        self.config = pathlib.Path(folder) / "icewright.yaml"
        self.config.write_text(json.dumps({"catalog": config or {}}))

    def run(self, *args, check=True, **kwargs):
        """Returns (exit code, parsed JSON of the standard output)."""
        command = [ICEWRIGHT, "--config", str(self.config), "--output", "json", *args]
        done = subprocess.run(command, capture_output=True, text=True, **kwargs)
        if check and done.returncode != 0:
            raise AssertionError(f"{shlex.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        try:
            return done.returncode, json.loads(done.stdout) if done.stdout.strip() else None
        except json.JSONDecodeError:
            return done.returncode, done.stdout


class Oracle:
    """Java Iceberg. Commands are collected and run in one JVM."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.commands = []
        self.outputs = []

    def add(self, command):
        """Queues a command; returns a key for run()'s result."""
        out = self.folder / f"oracle-{len(self.outputs)}.json"
        out.unlink(missing_ok=True)
        self.commands.append(f"{command} --out {out}")
        self.outputs.append(out)
        return len(self.outputs) - 1

    def run(self):
        """Runs what is queued; a command that failed has no result (None)."""
        batch = self.folder / "batch.txt"
        batch.write_text("\n".join(self.commands) + "\n")
        log = self.folder / "oracle.log"
        with open(log, "w") as err:
            subprocess.run([str(ORACLE / "run.sh"), "batch", str(batch), "--keep-going"], stderr=err, stdout=err)
        self.commands = []
        return [json.loads(o.read_text()) if o.exists() and o.stat().st_size else None for o in self.outputs]

    def log(self):
        """What Java complained about."""
        lines = (self.folder / "oracle.log").read_text().splitlines()
        return "\n".join(line for line in lines if "Exception" in line or line.startswith("rc "))


def main(*tests):
    """Runs test functions of one argument (a private folder); the exit code tells."""
    failures = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="icewright-e2e-") as folder:
            try:
                test(folder)
                print(f"PASS {test.__name__}", flush=True)
            except Exception as error:  # report and go on: one test must not hide the next
                if not isinstance(error, AssertionError):
                    traceback.print_exc()
                print(f"FAIL {test.__name__}: {error}", flush=True)
                failures += 1
    print(f"{len(tests) - failures} passed, {failures} failed")
    raise SystemExit(1 if failures else 0)
