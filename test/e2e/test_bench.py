"""The benchmarks at a small scale: each makes its table, runs, checks its result and prints its line."""

import json
import os
import pathlib
import subprocess

import harness

# workload -> what its line counts
SMALL = {
    "compact-5-small-files": ("rewritten-data-files-count", 5),
    "convert-2k-of-20k": ("resolved-delete-num", 1998),
    "promote-indexed-3-of-20k": ("processed-staging-snapshot-num", 3),
}


def small_workloads_check_their_results(folder):
    done = subprocess.run([str(harness.ROOT / "bench/run.py"), *SMALL], env={**os.environ, "BENCH": str(folder)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["workload"] for line in lines] == list(SMALL), done.stdout
    for line, (key, expected) in zip(lines, SMALL.values()):
        assert line["counts"][key] == expected, line
        assert line["rows"] > 0 and line["cpu_s"] > 0 and line["max_rss_mb"] > 0, line
    kept = (pathlib.Path(folder) / "results.jsonl").read_text().splitlines()
    assert kept == done.stdout.splitlines(), kept


harness.main(small_workloads_check_their_results)
