"""Conversions with an index of keys that are killed: the index that is left serves all later runs."""

import json
import pathlib
import random
import shutil
import subprocess
import time

import harness

WAYS = {"upsert_v3": [], "staged_v3": ["--staging-branch", "staging"]}


def command(folder, name):
    return ["convert-equality-deletes", harness.Table(name).id, "--equality-field-columns", "id", *WAYS[name],
            "--resolve", "indexed", "--index-path", str(pathlib.Path(folder) / "index")]


def expected_rows(name):
    if name == "upsert_v3":
        return harness.expected(name)["rows"]
    path = harness.FIXTURES / "expected" / name / "after-convert-equality-deletes-to-end.json"
    return json.loads(path.read_text())["rows"]


def kill(program, arguments, moment):
    """Starts a run and kills it after `moment` seconds. False: it was over already."""
    process = subprocess.Popen([harness.ICEWRIGHT, "--config", str(program.config), *arguments],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(moment)
    process.kill()
    return process.wait() == -9


def survive_kills(folder, name, rounds, seed):
    """In each round the table is as at first, and the index as the round before left it, or none."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table, convert = harness.Table(name), command(folder, name)
        start, index = pathlib.Path(folder) / "start", pathlib.Path(folder) / "index"
        shutil.copytree(table.path, start)
        begin = time.monotonic()
        program.run(*convert)
        duration = time.monotonic() - begin
        want = expected_rows(name)
        rng, killed = random.Random(seed), 0
        for number in range(rounds):
            shutil.rmtree(table.path)
            shutil.copytree(start, table.path)
            if number % 3 == 0:
                shutil.rmtree(index)
            for part in ([], ["--max-staging-snapshots", "1"], []):
                killed += kill(program, [*convert, *part], rng.uniform(0, duration / 2))
            _, report = program.run(*convert)
            assert not report.get("notes"), report
            _, rows = program.run("scan", table.id, "--digest")
            assert (rows["rows"], rows["digest"]) == (want["count"], want["digest"]), (number, rows)
        java = harness.Java.shared()
        dump = java.call(f"dump {table.oracle_args}")
        assert harness.rows_of(dump) == {key: want[key] for key in harness.rows_of(dump)}, dump["rows"]
        assert {f["format"] for f in dump["delete_files"]} <= {"puffin"}, dump["delete_files"]
        assert not (new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft"))), new
        print(f"  {name}: {killed} of {rounds * 3} runs of about {duration:.2f} s were killed")
        assert killed >= 3, "the kills came too late"


def killed_in_place_the_index_stays_right(folder):
    survive_kills(folder, "upsert_v3", 4, seed=1)


def killed_in_promotion_the_index_stays_right(folder):
    survive_kills(folder, "staged_v3", 4, seed=2)


harness.main(killed_in_place_the_index_stays_right, killed_in_promotion_the_index_stays_right)
