"""Other engines on the benchmark's tables. Each is installed on first use by its ordinary client.

COMMANDS[workload] = [(peer, command builder), ...]; a builder gets the table's folder and an empty folder for outputs,
and returns the command of one whole process, start-up included, so that it compares with a run of the program.
"""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/bench"
PYTHON = str(ROOT / ".venv-peers/bin/python")
ICEBERG_GO = "github.com/apache/iceberg-go/cmd/iceberg@v0.7.0"

DUCKDB = """
import glob, sys, duckdb
con = duckdb.connect()
con.execute("set threads=2; set preserve_insertion_order=false; set memory_limit='6GB'")
con.execute(f"COPY (SELECT * FROM read_parquet(?)) TO '{sys.argv[2]}/o' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 1000000, PER_THREAD_OUTPUT true)",
            [sorted(glob.glob(sys.argv[1] + '/data/*.parquet'))])
"""

PYICEBERG_PLAN = """
import glob, sys
from pyiceberg.table import StaticTable
version = max(glob.glob(sys.argv[1] + '/metadata/v*.metadata.json'), key=lambda p: int(p.rsplit('/v', 1)[1].split('.')[0]))
print(sum(1 for _ in StaticTable.from_metadata(version).scan().plan_files()))
"""


def python_with(package):
    """An interpreter of an environment of its own with one package."""
    folder = BENCH / "venv" / package.split("==")[0]
    python = folder / "bin/python"
    if not (folder / "done").exists():
        subprocess.run(["python3", "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", package], check=True)
        (folder / "done").touch()
    return str(python)


def iceberg_go():
    binary = BENCH / "bin/iceberg"
    if not binary.exists():
        subprocess.run(["go", "install", ICEBERG_GO], env={**os.environ, "GOBIN": str(binary.parent)}, check=True)
    return str(binary)


def duckdb(table, out):
    return [python_with("duckdb==2.0.1"), "-c", DUCKDB, table, out]


def pyiceberg_plan(table, out):
    return [PYTHON, "-c", PYICEBERG_PLAN, table]


def go_command(*words):
    def build(table, out):
        folder = pathlib.Path(table)
        return ["env", "GOMAXPROCS=2", iceberg_go(), "--catalog", "hadoop", "--warehouse", str(folder.parent.parent),
                "--output", "json", *words, f"{folder.parent.name}.{folder.name}"]
    return build


GO_COMPACT = ("iceberg-go", go_command("compact", "run", "--target-file-size", "268435456"))

COMMANDS = {
    "compact-sf1000": [("duckdb", duckdb), GO_COMPACT],
    "compact-sf100": [("duckdb", duckdb), GO_COMPACT],
    "equality-deletes-500k": [GO_COMPACT],
    "position-deletes-200k": [GO_COMPACT],
    "plan-100k-files": [("pyiceberg", pyiceberg_plan), ("iceberg-go", go_command("compact", "analyze"))],
    "plan-1m-files": [("iceberg-go", go_command("compact", "analyze"))],
}
