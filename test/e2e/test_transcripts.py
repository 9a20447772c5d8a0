"""Runs the sessions of test/cli/*.txt and compares what they print; `--update` writes them anew.

A transcript's lines `$ icewright ...` are commands, the lines after each its output (standard output, then error),
and `[exit N]` a code other than 0. Each transcript has fresh fixtures ($FIXTURES) and an empty folder ($FOLDER)
with the catalog "mine". What differs from run to run is masked: <id>, <uuid>.
"""

import difflib
import re
import shlex
import subprocess
import sys

import harness

UPDATE = "--update" in sys.argv
sys.argv = [word for word in sys.argv if word != "--update"]
TRANSCRIPTS = sorted((harness.ROOT / "test/cli").glob("*.txt"))
MASKS = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
    (r"(?m)^(  snapshot +)\d+$", r"\1<id>"),
]
# What a command says on the standard error; the rest are lines of progress, which depend on time.
MESSAGES = ("icewright", "next: ", "Run ", "only the first")


def masked(done, folder):
    errors = [line for line in done.stderr.splitlines() if line.startswith(MESSAGES)]
    text = "\n".join([*done.stdout.splitlines(), *errors]).replace(folder, "$FOLDER")
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return [line.rstrip() for line in text.splitlines()]


def replay(path, folder):
    """The transcript as it comes out now."""
    config = harness.catalogs() | {"mine": {"type": "jdbc", "uri": f"jdbc:sqlite:{folder}/catalog.db", "warehouse": f"file:{folder}/warehouse"}}
    program = harness.Program(folder, config)
    out = []
    for line in path.read_text().splitlines():
        if line.startswith("#") or (not line and (not out or out[-1].startswith("#"))):
            out.append(line)
        if not line.startswith("$ icewright"):
            continue
        words = shlex.split(line[2:].replace("$FIXTURES", str(harness.FIXTURES)).replace("$FOLDER", folder))
        done = subprocess.run([harness.ICEWRIGHT, "--config", str(program.config), *words[1:]], capture_output=True, text=True)
        out += [line, *masked(done, folder)]
        if done.returncode:
            out.append(f"[exit {done.returncode}]")
        out.append("")
    return "\n".join(out).rstrip() + "\n"


def test_of(path):
    def test(folder):
        with harness.fixtures():
            got = replay(path, folder)
        if UPDATE:
            path.write_text(got)
        want = path.read_text()
        difference = "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), str(path), "now", lineterm=""))
        assert got == want, "\n" + difference
        assert got.count("$ icewright") >= 3, "a transcript without commands"
    test.__name__ = path.stem
    return test


harness.main(*(test_of(path) for path in TRANSCRIPTS))
