"""Other engines on the benchmark's tables. Each is installed on first use by its ordinary client.

COMMANDS[workload] = [(peer, command builder), ...]; a builder gets the table's folder and an empty folder for outputs,
and returns the command of one whole process, start-up included, so that it compares with a run of the program.
"""

import contextlib
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = pathlib.Path(os.environ.get("BENCH", ROOT / "build/bench"))
PYTHON = str(ROOT / ".venv-peers/bin/python")
ICEBERG_COMPACTION = "iceberg-compaction==202604.9.0rc0"
ICEBERG_GO = "github.com/apache/iceberg-go/cmd/iceberg@v0.7.0"

DUCKDB = """
import glob, sys, duckdb
con = duckdb.connect()
con.execute("set threads=2; set preserve_insertion_order=false; set memory_limit='6GB'")
con.execute(f"COPY (SELECT * FROM read_parquet(?)) TO '{sys.argv[2]}/o' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 1000000, PER_THREAD_OUTPUT true)",
            [sorted(glob.glob(sys.argv[1] + '/data/*.parquet'))])
"""

# argv: table name, port, operation. It writes SNAPPY whatever the table says, which is cheaper than zstd.
RUST = """
import sys
import iceberg_compaction as ic
catalog = ic.RestCatalog("c", uri="http://127.0.0.1:" + sys.argv[2], warehouse="w")
rewrite = lambda: ic.Compaction(catalog, sys.argv[1], ic.CompactionConfig(strategy="full", target_file_size_bytes=268435456, max_input_parallelism=2, max_output_parallelism=2))
expire = lambda: ic.ExpireSnapshots(catalog, sys.argv[1], ic.ExpireSnapshotsConfig(retain_last=10, max_snapshot_age_secs=0))
manifests = lambda: ic.RewriteManifests(catalog, sys.argv[1], ic.RewriteManifestsConfig())
{"rewrite": rewrite, "expire": expire, "manifests": manifests}[sys.argv[3]]().run()
"""

SPARK_PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
# argv: the statement. The JVM is the parent, so that its time is counted.
SPARK = """
import sys
from pyspark.sql import SparkSession
session = SparkSession.builder.getOrCreate()
session.sparkContext.setLogLevel("ERROR")
session.sql(sys.argv[1]).collect()
session.stop()
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
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--pre", package], check=True)
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


@contextlib.contextmanager
def rest_catalog(warehouse):
    """Runs rest_catalog.py outside the measured process; gives its port."""
    server = subprocess.Popen([PYTHON, str(ROOT / "bench/rest_catalog.py"), str(warehouse)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def iceberg_compaction(operation):
    def build(table, out, port):
        folder = pathlib.Path(table)
        return [python_with(ICEBERG_COMPACTION), "-c", RUST, f"{folder.parent.name}.{folder.name}", port, operation]
    build.needs_rest_catalog = True
    return ("iceberg-compaction", build)


def spark(call):
    """A procedure of Iceberg's Spark runtime, two local cores."""
    def build(table, out):
        folder = pathlib.Path(table)
        python = pathlib.Path(python_with("pyspark==4.1.3"))
        home = next(python.parent.parent.glob("lib/python3*/site-packages/pyspark"))
        jar = pathlib.Path.home() / ".m2/repository" / "org/apache/iceberg/iceberg-spark-runtime-4.1_2.13/1.12.0/iceberg-spark-runtime-4.1_2.13-1.12.0.jar"
        if not jar.exists():
            subprocess.run(["mvn", "-q", "dependency:get", f"-Dartifact={SPARK_PACKAGE}", "-Dtransitive=false"], check=True)
        script = BENCH / "spark_call.py"
        script.write_text(SPARK)
        settings = {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
                    "spark.sql.catalog.c": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.c.type": "hadoop",
                    "spark.sql.catalog.c.warehouse": str(folder.parent.parent), "spark.ui.enabled": "false",
                    "spark.sql.shuffle.partitions": "4", "spark.local.dir": out}
        return ["env", f"SPARK_HOME={home}", f"PYSPARK_PYTHON={python}", str(home / "bin/spark-submit"), "--master", "local[2]", "--driver-memory", "4g", "--jars", str(jar),
                *[word for key, value in settings.items() for word in ("--conf", f"{key}={value}")],
                str(script), f"CALL c.system.{call.format(table=f'{folder.parent.name}.{folder.name}')}"]
    return ("spark", build)


SPARK_REWRITE = spark("rewrite_data_files(table => '{table}', options => map('target-file-size-bytes','268435456','rewrite-all','true','delete-file-threshold','1'))")

GO_COMPACT = ("iceberg-go", go_command("compact", "run", "--target-file-size", "268435456"))

RUST_REWRITE = iceberg_compaction("rewrite")

COMMANDS = {
    "compact-sf1000": [("duckdb", duckdb), RUST_REWRITE, GO_COMPACT],
    "compact-sf100": [("duckdb", duckdb), RUST_REWRITE, GO_COMPACT],
    "equality-deletes-500k": [RUST_REWRITE, GO_COMPACT, SPARK_REWRITE],
    "convert-500k": [RUST_REWRITE, GO_COMPACT, SPARK_REWRITE],
    "position-deletes-200k": [RUST_REWRITE, GO_COMPACT],
    "plan-100k-files": [("pyiceberg", pyiceberg_plan), ("iceberg-go", go_command("compact", "analyze"))],
    "plan-1m-files": [("iceberg-go", go_command("compact", "analyze"))],
    "expire-2000-to-10": [iceberg_compaction("expire"), ("iceberg-go", go_command("expire-snapshots", "--older-than", "1s", "--retain-last", "10", "--yes"))],
    "orphans-20k-of-40k": [("iceberg-go", go_command("clean-orphan-files", "--older-than", "72h", "--yes"))],
    "manifests-100-of-1000": [iceberg_compaction("manifests"), ("iceberg-go", go_command("rewrite-manifests"))],
}
