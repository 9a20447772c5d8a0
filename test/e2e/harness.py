"""What whole-system tests share: the program, the Java referee, and fresh fixture tables."""

import contextlib
import fcntl
import gzip
import json
import os
import pathlib
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
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


def new_problems(name, checked):
    """What Java's check finds in a fixture now and did not find before."""
    before = json.loads((FIXTURES / "expected" / name / "check.json").read_text())["problems"]
    known = {str(problem["problem"]) for problem in before}
    return [problem for problem in checked["problems"] if str(problem["problem"]) not in known]


def rows_of(dump):
    """The part of a dump that says which rows there are."""
    rows = dump["rows"]
    return {key: rows[key] for key in ("count", "digest", "lineage_digest") if rows.get(key) is not None}


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
            self.database = FIXTURES / db

    def metadata_file(self):
        """The current metadata file, found without icewright."""
        if self.in_sql_catalog:
            with contextlib.closing(sqlite3.connect(self.database)) as db:
                query = "SELECT metadata_location FROM iceberg_tables WHERE table_name = ?"
                location = db.execute(query, [self.path.name]).fetchone()[0]
            return pathlib.Path(location.removeprefix("file:"))
        names = (self.path / "metadata").glob("v*.metadata.json")
        return max(names, key=lambda path: int(path.name[1:].split(".")[0]))

    def metadata(self):
        path = self.metadata_file()
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)

    def listing(self):
        """Every file of the table: {relative path: (size, time of change)}."""
        return {str(path.relative_to(self.path)): (path.stat().st_size, path.stat().st_mtime_ns)
                for path in self.path.rglob("*") if path.is_file()}


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


class JavaError(Exception):
    """A command of Java failed; the text is its exception."""


class Java:
    """Real Iceberg in a JVM that stays up for a whole script. Single-threaded."""

    _shared = None

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="icewright-java-"))
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen([str(ORACLE / "run.sh"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, encoding="utf-8", bufsize=1)

    @classmethod
    def shared(cls):
        cls._shared = cls._shared or cls()
        return cls._shared

    def call(self, command):
        """Runs one command of the referee and returns its JSON. Raises JavaError."""
        out = self.folder / "out.json"
        out.unlink(missing_ok=True)
        self.process.stdin.write(f"{command} --out {out}\n")
        for line in self.process.stdout:
            if line.startswith("rc "):
                return json.loads(out.read_text())
            if line.startswith("error "):
                raise JavaError(line.removeprefix("error ").strip())
        raise AssertionError(f"the JVM died\n{(self.folder / 'log').read_text()[-2000:]}")

    def start(self, command):
        """Sends a command that prints lines of JSON itself, such as lock-jdbc; see line() and finish()."""
        self.process.stdin.write(command + "\n")

    def line(self):
        """The next object that the command of start() prints."""
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
            if line.startswith("error "):
                raise JavaError(line.removeprefix("error ").strip())
            if line.startswith("rc "):
                raise AssertionError(f"the command ended: {line}")
        raise AssertionError("the JVM died")

    def finish(self):
        """Waits for the end of the command of start(); returns (exit code, the objects it printed since)."""
        lines = []
        for line in self.process.stdout:
            if line.startswith("{"):
                lines.append(json.loads(line))
            elif line.startswith("error "):
                raise JavaError(line.removeprefix("error ").strip())
            elif line.startswith("rc "):
                return int(line.removeprefix("rc ")), lines
        raise AssertionError("the JVM died")

    @classmethod
    def close(cls):
        if cls._shared:
            cls._shared.process.stdin.close()
            cls._shared.process.wait()
            cls._shared.log.close()
            shutil.rmtree(cls._shared.folder)
            cls._shared = None


def peer(script, request):
    """Runs a script of this folder in the Python that has PyIceberg: JSON in, JSON out."""
    command = [str(PEERS_PYTHON), "-W", "ignore", str(ROOT / "test/e2e" / script)]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{script}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def main(*tests):
    """Runs test functions of one argument (a private folder); the exit code tells. Arguments name some of them."""
    tests = [test for test in tests if not sys.argv[1:] or test.__name__ in sys.argv[1:]]
    failures = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="icewright-e2e-") as folder:
            try:
                start = time.monotonic()
                test(folder)
                print(f"PASS {test.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
            except Exception as error:  # report and go on: one test must not hide the next
                if not isinstance(error, AssertionError) or not str(error):
                    traceback.print_exc()
                print(f"FAIL {test.__name__}: {error}", flush=True)
                failures += 1
    Java.close()
    print(f"{len(tests) - failures} passed, {failures} failed")
    raise SystemExit(1 if failures else 0)
