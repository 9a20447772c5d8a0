#!/usr/bin/env python3
"""Table-sized benchmarks: a fresh copy of a generated table, one run of the program, results checked.

  run.py [--peers NAME,...] [WORKLOAD ...]     all of them by default; one JSON line each, also in build/bench/results.jsonl

Each line has wall seconds, CPU seconds and peak RSS of the whole process, the machine, the commit, and
the figures of the same work by pyarrow where there is one ("yardstick"). The tables are made on first
use, with a seed. A wrong result fails the run: rows before and after are compared by digest. --peers
names engines of peers.py (duckdb, pyiceberg, iceberg-compaction, iceberg-go, spark; "all"), which are installed on first use and
do the same work on a fresh copy right after. A compaction with --memory must stay below its limit.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = peers.BENCH
WH, PRISTINE = BENCH / "wh", BENCH / "pristine"
ICEWRIGHT = os.environ.get("ICEWRIGHT", str(ROOT / "build/release/bin/icewright"))
PYTHON = str(ROOT / ".venv-peers/bin/python")

# table -> arguments of gen.py
TABLES = {
    "sf1000": ["small-files", "--files", "1000"],
    "sf100": ["small-files", "--files", "100"],
    "sf100-own": ["sf100", "--target-file-size-bytes", "4MiB"],
    "sf5": ["small-files", "--files", "5", "--rows", "1000"],
    "eq500k": ["eq-deletes"],
    "eq500k-v3": ["eq-deletes", "--format-version", "3"],
    "pos200k": ["pos-deletes"],
    "ent1m": ["many-entries", "--entries", "1000000", "--per-manifest", "1000"],
    "ent100k": ["many-entries", "--entries", "100000", "--per-manifest", "1000"],
    "ent1m100": ["many-entries", "--entries", "1000000", "--per-manifest", "100"],
    "snap2000": ["many-snapshots", "--snapshots", "2000"],
    "wide500": ["wide", "--files", "8", "--rows", "20000", "--columns", "500"],
    "up50m": ["key-upserts", "--base-files", "100", "--base-rows", "500000", "--commits", "1000", "--upserts", "1000"],
    "up20m-of-50m": ["key-upserts", "--base-files", "60", "--base-rows", "500000", "--commits", "20", "--upserts", "1000000"],
    "up1m": ["key-upserts", "--base-files", "10", "--base-rows", "100000", "--commits", "100", "--upserts", "1000"],
    "up20k": ["key-upserts", "--base-files", "4", "--base-rows", "5000", "--commits", "20", "--upserts", "100"],
    "staged20k": ["key-upserts", "--base-files", "4", "--base-rows", "5000", "--commits", "5", "--upserts", "100", "--staged"],
    "staged50m": ["key-upserts", "--base-files", "100", "--base-rows", "500000", "--commits", "101", "--upserts", "1000", "--staged"],
    "staged5m": ["key-upserts", "--base-files", "10", "--base-rows", "500000", "--commits", "50", "--upserts", "1000", "--staged"],
    "orph20k": ["orphans", "--live", "20000", "--orphan", "20000"],
    "java200": ["java-files", "--files", "200"],
    "java200-snappy": ["java-files", "--files", "200", "--codec", "snappy"],
    "plain8": ["encoded", "--files", "8", "--rows", "500000", "--encoding", "plain"],
    "delta8": ["encoded", "--files", "8", "--rows", "500000", "--encoding", "delta"],
    "disjoint60": ["disjoint", "--files", "60", "--rows", "20000"],
    "repair200": ["many-groups", "--files", "1", "--rows", "1000000", "--row-groups", "200"],
    "clustered4": ["pos-deletes", "--delete-files", "4", "--deletes", "5000", "--clustered", "--java"],
    "clustered20": ["pos-deletes", "--delete-files", "20", "--deletes", "1000", "--clustered", "--java"],
    "scattered100": ["pos-deletes", "--base-files", "100", "--base-rows", "20000", "--delete-files", "100", "--deletes", "200", "--java"],
    "scattered20": ["pos-deletes", "--delete-files", "20", "--deletes", "1000"],
    "groups200": ["many-groups", "--files", "8", "--rows", "200000", "--row-groups", "200"],
}

LISTING = BENCH / "listing.tsv"  # of ent1m: each data file of the table, and as many that nothing names

# workload -> (table, arguments of icewright, compares rows)
COMMANDS = {"rewrite-data-files", "rewrite-manifests", "expire-snapshots", "delete-orphan-files", "convert-equality-deletes"}
CONVERT = ["convert-equality-deletes", "--equality-field-columns", "id"]
PROMOTE = [*CONVERT, "--staging-branch", "staging"]
INDEX = BENCH / "index"
INDEXED = [*PROMOTE, "--resolve", "indexed", "--index-path", str(INDEX)]
COMPACT = ["rewrite-data-files", "--rewrite-all"]
SPLICE = [*COMPACT, "--engine", "splice"]
AUTO = [*COMPACT, "--engine", "auto"]
WORKLOADS = {
    "compact-sf1000": ("sf1000", COMPACT, True),
    "compact-sf100": ("sf100", COMPACT, True),
    "splice-sf1000": ("sf1000", SPLICE, True),
    "splice-sf100": ("sf100", SPLICE, True),
    "splice-java-zstd": ("java200", SPLICE, True),
    "splice-java-snappy": ("java200-snappy", SPLICE, True),
    "splice-plain": ("plain8", SPLICE, True),
    "splice-delta": ("delta8", SPLICE, True),
    "splice-disjoint": ("disjoint60", SPLICE, True),
    "splice-repair": ("repair200", SPLICE, True),
    "splice-again": ("sf100-own", SPLICE, True),
    "splice-200-row-groups": ("groups200", SPLICE, True),
    "splice-1-percent-in-4-files": ("clustered4", SPLICE, True),
    "splice-1-percent-in-20-files": ("clustered20", SPLICE, True),
    "splice-1-percent-scattered": ("scattered100", SPLICE, True),
    "auto-1-percent-scattered": ("scattered20", AUTO, True),
    "auto-200k-position-deletes": ("pos200k", AUTO, True),
    "compact-5-small-files": ("sf5", ["rewrite-data-files"], True),
    "equality-deletes-500k": ("eq500k", COMPACT, True),
    "position-deletes-200k": ("pos200k", COMPACT, True),
    "convert-1m-of-50m": ("up50m", ["--threads", "2", *CONVERT], True),
    "convert-20m-of-50m-1gib": ("up20m-of-50m", ["--threads", "2", "--memory", "1GiB", *CONVERT], True),
    "convert-20m-of-50m-256mib": ("up20m-of-50m", ["--threads", "2", "--memory", "256MiB", *CONVERT], True),
    "convert-500k": ("eq500k-v3", ["--threads", "2", *CONVERT], True),
    "convert-100k-of-1m": ("up1m", ["--threads", "2", *CONVERT], True),
    "convert-2k-of-20k": ("up20k", CONVERT, True),
    "promote-indexed-1-of-50m": ("staged50m", [*INDEXED, "--max-staging-snapshots", "1"], False),
    "promote-indexed-100-of-50m": ("staged50m", ["--threads", "2", *INDEXED], False),
    "promote-indexed-3-of-20k": ("staged20k", INDEXED, False),
    "promote-50-snapshots-5m-rows": ("staged5m", ["--threads", "2", *PROMOTE], False),
    "plan-1m-files": ("ent1m", ["rewrite-data-files", "--dry-run"], False),
    "orphans-20k-of-40k": ("orph20k", ["delete-orphan-files"], False),
    "orphans-1m-of-2m-lines": ("ent1m", ["delete-orphan-files", "--compare-to-file-list", str(LISTING), "--dry-run"], False),
    "orphans-1m-of-2m-lines-64mib": ("ent1m", ["--memory", "64MiB", "delete-orphan-files", "--compare-to-file-list", str(LISTING), "--dry-run"], False),
    "plan-100k-files": ("ent100k", ["rewrite-data-files", "--dry-run"], False),
    "expire-2000-to-10": ("snap2000", ["expire-snapshots", "--max-snapshot-age", "0s", "--retain-last", "10"], False),
    "manifests-100-of-1000": ("ent100k", ["--threads", "2", "rewrite-manifests"], False),
    "manifests-10000-of-100": ("ent1m100", ["--threads", "2", "rewrite-manifests"], False),
    "memory-500-columns": ("wide500", ["--memory", "512MiB", *COMPACT], True),
    "memory-200-row-groups": ("groups200", ["--memory", "512MiB", *COMPACT], True),
    "memory-sort": ("sf1000", ["--memory", "512MiB", *COMPACT, "--strategy", "sort", "--sort-order", "url asc, id desc"], True),
}

# Peers do the work on this table instead: the same rows in a format version that they write.
PEER_TABLES = {"convert-500k": "eq500k"}

# workload -> what is done before the clock starts
PREPARE = {
    "promote-indexed-1-of-50m": ["--threads", "2", *INDEXED, "--max-staging-snapshots", "1"],
    "promote-indexed-100-of-50m": ["--threads", "2", *INDEXED, "--max-staging-snapshots", "1"],
    "promote-indexed-3-of-20k": [*INDEXED, "--max-staging-snapshots", "2"],
}

# workload -> what its report must count
COUNTS = {
    "promote-indexed-1-of-50m": ("processed-staging-snapshot-num", 1),
    "promote-indexed-100-of-50m": ("processed-staging-snapshot-num", 100),
    "promote-indexed-3-of-20k": ("processed-staging-snapshot-num", 3),
    "promote-50-snapshots-5m-rows": ("processed-staging-snapshot-num", 50),
    "plan-1m-files": ("planned-data-files-count", 1_000_000),
    "plan-100k-files": ("planned-data-files-count", 100_000),
    "manifests-100-of-1000": ("entries-processed", 100_000),
    "manifests-10000-of-100": ("entries-processed", 1_000_000),
}

YARDSTICK = """
import glob, sys, pyarrow as pa, pyarrow.parquet as pq
pa.set_cpu_count(2)
files = sorted(glob.glob(sys.argv[1] + '/data/*.parquet'))
codec = pq.ParquetFile(files[0]).metadata.row_group(0).column(0).compression
level = dict(compression_level=3) if codec == 'ZSTD' else {}
writer = None
for f in files:
    t = pq.read_table(f)
    writer = writer or pq.ParquetWriter(sys.argv[2], t.schema, compression=codec, store_decimal_as_integer=True, **level)
    writer.write_table(t, row_group_size=1 << 20)
writer.close()
"""
YARDSTICKS = {"compact-sf1000", "compact-sf100"} | {w for w, (_, arguments, _) in WORKLOADS.items() if arguments is SPLICE and "percent" not in w}
# Of these the decoding engine does the same work right after, and both results are read by pyarrow.
BESIDE_DECODING = {w for w, (_, arguments, _) in WORKLOADS.items() if arguments in (SPLICE, AUTO)}
BESIDE_SCANNING = {"promote-indexed-100-of-50m", "promote-indexed-3-of-20k"}
COPIED = {"splice-plain", "splice-delta"}  # measured beside cp

READ = """
import sys, pyarrow as pa, pyarrow.parquet as pq
pa.set_cpu_count(2)
for f in sys.argv[1:]:
    for batch in pq.ParquetFile(f).iter_batches(65536): pass
"""


def measure(command, **options):
    """Wall, CPU and peak RSS of a command; returns (figures, stdout)."""
    before = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    figures = {"wall_s": round(time.monotonic() - before, 3), "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
               "max_rss_mb": usage.ru_maxrss // 1024, "exit": process.returncode}
    return figures, out


def command_on(target, arguments):
    at = next(i for i, word in enumerate(arguments) if word in COMMANDS) + 1
    return [ICEWRIGHT, "--output", "json", *arguments[:at], str(target), *arguments[at:]]


def make(table):
    of, *more = TABLES[table]
    if of in TABLES:  # as the program itself leaves it
        target = fresh(of)
        expire = ["expire-snapshots", "--max-snapshot-age", "0s", "--retain-last", "1"]
        for arguments in ([*COMPACT, *more], expire):
            subprocess.run(command_on(target, arguments), check=True, stdout=subprocess.DEVNULL)
        target.rename(PRISTINE / table)
    else:
        subprocess.run([PYTHON, str(ROOT / "bench/gen.py"), of, table, *more], check=True, stdout=sys.stderr)


def fresh(table):
    if not (PRISTINE / table).exists():
        make(table)
    name = TABLES[table][0] if TABLES[table][0] in TABLES else table  # its metadata names this folder
    target = WH / "ns" / name
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(PRISTINE / table), str(target)], check=True)
    return target


def live_files(target):
    rows = json.loads(subprocess.run([ICEWRIGHT, "--output", "json", "inspect", str(target), "data-files"], capture_output=True, text=True, check=True).stdout)
    return [row["file_path"] for row in rows]


def beside_decoding(table, target, line):
    """Decoding does the same work on a fresh copy; both results are read."""
    def read(paths):
        return measure([PYTHON, "-c", READ, *paths])[0]["cpu_s"]
    results = []
    for path in live_files(target):  # decoding takes the folder
        results.append(shutil.move(path.removeprefix("file:"), BENCH / f"result-{len(results)}.parquet"))
    line["decoding"], _ = measure(command_on(target := fresh(table), COMPACT))
    line["ratio_to_decoding"] = round(line["cpu_s"] / line["decoding"]["cpu_s"], 3)
    decoded = live_files(target)
    rounds = [(read(results), read(decoded)) for _ in range(3)]  # in turn: the machine is not alone
    line["read_cpu_s"] = {"result": min(ours for ours, _ in rounds), "decoded": min(theirs for _, theirs in rounds)}
    for path in results:
        path.unlink()


def digest(target):
    return json.loads(subprocess.run([ICEWRIGHT, "--output", "json", "scan", str(target), "--digest"],
                                     capture_output=True, text=True, check=True).stdout)


def write_listing(target):
    """2 M lines as an inventory of the store has them: sorted, the orphans among the live files."""
    if LISTING.exists():
        return
    rows = json.loads(subprocess.run([ICEWRIGHT, "--output", "json", "inspect", str(target), "data-files"],
                                     capture_output=True, text=True, check=True).stdout)
    with open(LISTING, "w") as out:
        for path in sorted(row["file_path"] for row in rows):
            out.write(f"{path}\t2024-01-01T00:00:00Z\t500000\n")
            out.write(f"{path.removesuffix('.parquet')}-orphan.parquet\t2024-01-01T00:00:00Z\t500000\n")


def unreachable(target):
    """Number of files of a table, and those that neither its metadata nor a snapshot names."""
    def look(*what):
        return json.loads(subprocess.run([ICEWRIGHT, "--output", "json", "inspect", str(target), *what],
                                         capture_output=True, text=True, check=True).stdout)
    snapshots = look("snapshots")
    named = {row["file"] for row in look("metadata-log")} | {row["manifest_list"] for row in snapshots}
    named |= {row["path"] for row in look("all-manifests")} | {row["file_path"] for row in look("all-files")}
    named = {path.removeprefix("file:") for path in named} | {f"{target}/metadata/version-hint.text"}
    there = {str(path) for path in target.rglob("*") if path.is_file() and not path.name.endswith(".crc")}
    return len(there), sorted(there - named)


def beside(build, table, ours):
    """The same work by a peer, on a fresh copy."""
    out = BENCH / "peer-output"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    target = fresh(table)
    with contextlib.ExitStack() as stack:
        port = [stack.enter_context(peers.rest_catalog(WH))] if getattr(build, "needs_rest_catalog", False) else []
        figures, _ = measure(build(str(target), str(out), *port), stderr=subprocess.DEVNULL)
    shutil.rmtree(out)
    figures["objects_left"] = sum(len(files) for _, _, files in os.walk(target))
    figures["cpu_ratio"] = round(ours["cpu_s"] / figures["cpu_s"], 2) if figures["exit"] == 0 else None
    return figures


def check_result(workload, target, before, figures, report, line):
    """Fails unless the run did what it had to."""
    table, arguments, compares = WORKLOADS[workload]
    counts = report["counts"]
    if workload in COUNTS:
        key, expected = COUNTS[workload]
        assert counts[key] == expected, counts
    if compares:
        line["rows"] = before["rows"]
        assert digest(target) == before, f"{workload}: rows changed"
    elif PROMOTE[0] in arguments:
        line["rows"] = before["rows"]
        assert digest(target)["rows"] == before["rows"], f"{workload}: an upsert of a row that is there changes no count"
    elif "delete-orphan-files" in arguments:
        line["objects_left"] = sum(len(files) for _, _, files in os.walk(target))
        assert figures["max_rss_mb"] <= 256, figures
        expected = 1_000_000 if str(LISTING) in arguments else int(TABLES[table][4])
        assert counts["orphan-files-count"] == expected, counts
        assert not list(target.rglob("orphan-*")) and counts["referenced-files-count"] >= 20_000, counts
    elif "expire-snapshots" in arguments:
        line["objects_left"], line["unreachable"] = unreachable(target)
        assert counts["expired-snapshots-count"] == int(TABLES[table][2]) - 10, counts
        assert line["unreachable"] == [], line["unreachable"][:5]
    else:
        assert workload in COUNTS, f"{workload}: nothing is checked"
    if "--memory" in arguments and {"rewrite-data-files", "convert-equality-deletes"} & set(arguments):
        limit = int(arguments[arguments.index("--memory") + 1].replace("1GiB", "1024MiB").removesuffix("MiB"))
        assert figures["max_rss_mb"] <= limit, f"{workload}: {figures['max_rss_mb']} MB of RSS under a limit of {limit} MiB"


def beside_scanning(table, target, line):
    """Scans resolve all staged snapshots of a fresh copy; the rows must be the same."""
    promoted = digest(target)
    line["scanning"], _ = measure(command_on(target := fresh(table), ["--threads", "2", *PROMOTE]))
    assert digest(target) == promoted, "an index and a scan resolve alike"


def measure_beside(workload, target, line):
    """The same work by other means, in the same run."""
    table, arguments, _ = WORKLOADS[workload]
    if workload in YARDSTICKS:
        out_file = BENCH / "yardstick.parquet"
        line["yardstick"], _ = measure([PYTHON, "-c", YARDSTICK, str(PRISTINE / table), str(out_file)])
        out_file.unlink()
        line["cpu_ratio"] = round(line["cpu_s"] / line["yardstick"]["cpu_s"], 3)
    if workload in COPIED:
        copy = BENCH / "copied"
        line["cp"], _ = measure(["cp", "-r", str(PRISTINE / table / "data"), str(copy)])
        shutil.rmtree(copy)
    if workload in BESIDE_DECODING:
        beside_decoding(table, target, line)
    if workload in BESIDE_SCANNING:
        beside_scanning(table, target, line)


def run(workload, wanted_peers=()):
    table, arguments, compares = WORKLOADS[workload]
    target = fresh(table)
    before = digest(target) if compares or PROMOTE[0] in arguments else None
    if str(LISTING) in arguments:
        # Apart: the peak RSS of a program counts that of the process which started it.
        maker = multiprocessing.get_context("fork").Process(target=write_listing, args=(target,))
        maker.start()
        maker.join()
        assert maker.exitcode == 0
    line = {"workload": workload}
    if workload in PREPARE:
        shutil.rmtree(INDEX, ignore_errors=True)
        line["prepare"], _ = measure(command_on(target, PREPARE[workload]))
    figures, out = measure(command_on(target, arguments))
    report = json.loads(out)
    line |= {**figures, "counts": report["counts"], "notes": report.get("notes", [])}
    if figures["exit"] != 0:
        line["error"] = report["error"]
        return line
    check_result(workload, target, before, figures, report, line)
    measure_beside(workload, target, line)
    line["peers"] = {peer: beside(build, PEER_TABLES.get(workload, table), figures) for peer, build in peers.COMMANDS.get(workload, []) if peer in wanted_peers}
    line["machine"] = f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f}"
    line["commit"] = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default="")
    parser.add_argument("workloads", nargs="*")
    arguments = parser.parse_args()
    wanted = arguments.workloads or list(WORKLOADS)
    known = {peer for commands in peers.COMMANDS.values() for peer, _ in commands}
    wanted_peers = known if arguments.peers == "all" else set(filter(None, arguments.peers.split(",")))
    if not wanted_peers <= known:
        parser.error(f"--peers: {', '.join(sorted(wanted_peers - known))}; known are {', '.join(sorted(known))}")
    BENCH.mkdir(parents=True, exist_ok=True)
    failed = 0
    with open(BENCH / "results.jsonl", "a") as results:
        for workload in wanted:
            line = run(workload, wanted_peers)
            failed += line["exit"] != 0
            text = json.dumps(line)
            print(text, flush=True)
            results.write(text + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
