"""Compaction of many partitions at once: open writers are bounded, and so is the peak of the whole process."""

import os
import subprocess

import harness
from fault_table import Table

LIMIT_MIB = 512


def five_hundred_partitions_of_two_tiny_files(folder):
    table = Table(folder, "t", "id:long!,p:string", "--partition", "p")
    for commit in (1, 2):
        table.commit(f"F{commit}=" + ";".join(f"{commit * 1000 + p},p{p}" for p in range(500)))
    rows = [[commit * 1000 + p, f"p{p}"] for commit in (1, 2) for p in range(500)]
    assert table.rows() == sorted(rows, key=str)
    command = [harness.ICEWRIGHT, "--config", str(table.program.config), "--memory", f"{LIMIT_MIB}MiB", "--threads", "8",
               "rewrite-data-files", table.id, "--rewrite-all"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    assert usage.ru_maxrss < LIMIT_MIB * 1024, usage.ru_maxrss
    dump = table.expect(rows)
    assert len(dump["data_files"]) == 500, len(dump["data_files"])


harness.main(five_hundred_partitions_of_two_tiny_files)
