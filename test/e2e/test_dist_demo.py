"""The folder that `make dist` makes runs without the venv; the demo runs as the README shows it."""

import os
import pathlib
import subprocess

import harness


def without_venv(folder):
    """What to put before a command to run it where the venv is an empty folder; nothing where that is not allowed."""
    empty = pathlib.Path(folder) / "empty"
    empty.mkdir()
    venv = harness.ROOT / ".venv"
    hide = ["unshare", "-m", "bash", "-c", 'mount --bind "$0" "$1" && [ -z "$(ls -A "$1")" ] && shift && exec "$@"', str(empty), str(venv)]
    allowed = subprocess.run([*hide, "true"], capture_output=True).returncode == 0
    if not allowed:
        print("  the venv cannot be hidden here: only the linked libraries were looked at")
    return hide if allowed else []


def a_distribution_runs_without_the_venv(folder):
    out = pathlib.Path(folder) / "icewright"
    build = pathlib.Path(harness.ICEWRIGHT).parent.parent
    subprocess.run([str(harness.ROOT / "tools/make_dist.sh"), str(build), str(out)], check=True, capture_output=True)
    program = out / "bin/icewright"
    linked = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    assert "not found" not in linked, linked
    assert ".venv" not in linked, linked
    assert f"{out}/lib/libarrow.so" in linked.replace("bin/../lib", "lib"), linked
    with harness.fixtures():
        flights = harness.Table("flights")
        done = subprocess.run([*without_venv(folder), str(program), "--output", "json", "scan", flights.id, "--digest"],
                              env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert harness.expected("flights")["rows"]["digest"] in done.stdout, done.stdout


def the_demo_compacts_and_keeps_every_row(folder):
    done = subprocess.run([str(harness.ROOT / "tools/demo.sh")], capture_output=True, text=True,
                          env={**os.environ, "ICEWRIGHT": harness.ICEWRIGHT})
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("registered demo.fx.flights", "rows-read                        51,527",
                 "The compacted table and the original hold the same rows: {\"rows\":56130,\"digest\":\"2a3e6b12e821c475\"}"):
        assert line in done.stdout, f"no '{line}' in\n{done.stdout}"


def the_example_program_compacts(folder):
    example = pathlib.Path(os.environ.get("ICEWRIGHT_EXAMPLES", harness.ROOT / "build/release/bin")) / "compact_example"
    with harness.fixtures():
        table = harness.Table("append_v2")
        done = subprocess.run([str(example), str(table.path)], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "done 60\n"), done.stdout + done.stderr
        missing = subprocess.run([str(example), "/no/such/table"], capture_output=True, text=True)
        assert missing.returncode == 1 and "/no/such/table" in missing.stderr, missing.stderr


harness.main(a_distribution_runs_without_the_venv, the_demo_compacts_and_keeps_every_row, the_example_program_compacts)
