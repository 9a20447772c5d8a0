"""Deletes the orphans that Flink deleted, and compares; real Java Iceberg judges what is left."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time

import harness
import race

DAY = 86400
# Java asks the store for the percent-encoded spelling of this one, and leaves it.
MISSED_BY_JAVA = "data/with space/orphan 100%25.parquet"
TWIN = "data/with%20space/orphan%20100%2525.parquet"


def recorded(what):
    text = (harness.FIXTURES / "expected/orphans_v2" / f"after-delete-orphan-files{what}.result.json").read_text()
    return set(json.loads(text)["files_removed"])


def make_old(table, days=10):
    """As if nobody had changed anything for days: only an orphan's age decides."""
    then = time.time() - days * DAY
    for file in table.listing():
        os.utime(table.path / file, (then, then))


def sizes(table):
    """Without times: a move to another disk does not keep them."""
    return {file: size for file, (size, _) in table.listing().items()}


def plant(table, *files, age=10 * DAY):
    for file in files:
        path = table.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"junk")
        os.utime(path, (time.time() - age,) * 2)


def differences_in_java(java, name, table):
    """What Java reads otherwise than before the run, and what it complains about."""
    dump = java.call(f"dump {table.oracle_args}")
    want = harness.expected(name)
    found = [f"Java reads {dump['rows']}"] if harness.rows_of(dump) != harness.rows_of(want) else []
    ids, expected_ids = ([s["id"] for s in d["snapshots"]] for d in (dump, want))
    if ids != expected_ids:
        found.append(f"Java sees snapshots {ids}, expected {expected_ids}")
    if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
        found.append(f"Java finds {new}")
    return found


def the_same_files_go_as_in_flink_and_the_one_it_misses(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        java = harness.Java.shared()
        table = harness.Table("orphans_v2")
        by_age, of_any_age = recorded(""), recorded("-any-age")
        for file in of_any_age - by_age:
            os.utime(table.path / file)
        plant(table, TWIN, age=0)
        before = table.listing()
        _, plan = program.run("delete-orphan-files", table.id, "--dry-run", "--explain")
        assert table.listing() == before, "a dry run changed files"
        prefix = f"file:{table.path}/"
        assert {i["name"].removeprefix(prefix) for i in plan["items"]} == by_age | {MISSED_BY_JAVA}, plan["items"]
        assert all("min-age 3 d" in i["reason"] for i in plan["items"]), plan["items"]
        _, report = program.run("delete-orphan-files", table.id)
        gone = before.keys() - table.listing().keys()
        assert gone == by_age | {MISSED_BY_JAVA}, sorted(gone)
        assert report["counts"]["deleted-files-count"] == len(gone) == plan["counts"]["orphan-files-count"], report
        assert not differences_in_java(java, "orphans_v2", table)

        _, report = program.run("delete-orphan-files", table.id, "--min-age", "0s", "--force-min-age")
        gone = before.keys() - table.listing().keys()
        assert gone == of_any_age | {MISSED_BY_JAVA, TWIN}, sorted(gone)
        assert not differences_in_java(java, "orphans_v2", table)
        code, report = program.run("delete-orphan-files", table.id, "--min-age", "1h", check=False)
        assert (code, report["error"]["code"]) == (2, "invalid-argument"), (code, report)


def in_tables_of_all_engines_only_the_junk_goes(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong, tables = [], 0
        for name in harness.fixture_names():
            table = harness.Table(name)
            if name == "orphans_v2":
                continue
            make_old(table)
            junk = {"data/junk.parquet", "data/a b/junk%20.parquet", "metadata/junk-m0.avro"}
            before = set(table.listing())
            plant(table, *junk)
            arguments = [] if table.in_sql_catalog else ["--use-prefix-listing=false"]
            _, report = program.run("delete-orphan-files", table.id, *arguments)
            tables += 1
            gone = {f for f in before - set(table.listing()) if not f.endswith(".metadata.json")}
            left = junk & set(table.listing())
            if gone or left or report["failures"]:
                wrong.append(f"{name}: gone {sorted(gone)}, left {sorted(left)}, {report['failures']}")
            if tables % 6 == 0 and (new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft"))):
                wrong.append(f"{name}: Java finds {new}")
        assert not wrong, "\n".join(wrong)
        assert tables >= 40, tables


class Cleaner(threading.Thread):
    """Plants junk in a table's folder and cleans it, again and again."""

    def __init__(self, program, table, path):
        super().__init__()
        self.program, self.table, self.path = program, table, path
        self.stopping, self.deleted, self.wrong = threading.Event(), 0, []

    def run(self):
        then = time.time() - 10 * DAY
        while not self.stopping.is_set():
            for i in range(200):
                junk = self.path / f"data/junk-{i}.parquet"
                junk.write_bytes(b"junk")
                os.utime(junk, (then, then))
            code, report = self.program.run("delete-orphan-files", self.table, "--delete-batch-size", "20", check=False)
            if code != 0:
                self.wrong.append((code, report))
            else:
                self.deleted += report["counts"]["deleted-files-count"]


def java_writes_while_orphans_go(folder):
    database, warehouse = f"{folder}/catalog.db", f"file:{folder}/warehouse"
    program = harness.Program(folder, {"o": {"type": "jdbc", "uri": f"jdbc:sqlite:{database}", "warehouse": warehouse}})
    race.create(program, ("o.w.t", "--identifier", "id"), ("o.w.twin", "--identifier", "id"))
    at = f"--catalog jdbc --uri jdbc:sqlite:{database} --catalog-name o"
    options = "--rows 800 --checkpoints 12 --seed 12 --mode upsert --keys id --update-ratio 0.5 --delete-ratio 0.05"
    java = harness.Java.shared()
    java.call(f"write {warehouse} w.twin {options} {at}")
    path = pathlib.Path(folder) / "warehouse/w/t"
    (path / "data").mkdir(parents=True, exist_ok=True)
    cleaner = Cleaner(program, "o.w.t", path)
    cleaner.start()
    try:
        java.call(f"write {warehouse} w.t {options} {at}")
    finally:
        cleaner.stopping.set()
        cleaner.join()
    print(f"  {cleaner.deleted} orphans went meanwhile")
    assert not cleaner.wrong and cleaner.deleted >= 400, (cleaner.deleted, cleaner.wrong[:3])
    assert not list((path / "data").glob("junk-*"))
    rows, want = (harness.rows_of(java.call(f"dump {warehouse} w.{name} {at}")) for name in ("t", "twin"))
    assert rows == want, f"Java reads {rows}, expected {want}"
    assert java.call(f"check {warehouse} w.t {at} --soft")["problems"] == []


def killed_at_any_moment_the_next_run_finishes(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        java = harness.Java.shared()
        table = harness.Table("upsert_v3")
        make_old(table)
        program.run("delete-orphan-files", table.id)
        clean = set(table.listing())
        junk = [f"data/d{i % 7}/junk-{i}.parquet" for i in range(2000)]
        args = ["delete-orphan-files", table.id, "--delete-batch-size", "10"]
        quarantine = pathlib.Path(folder) / "quarantine"
        plant(table, *junk)
        begin = time.monotonic()
        program.run(*args)
        duration = time.monotonic() - begin
        rng, killed = random.Random(20240601), 0
        for i in range(12):
            plant(table, *junk)
            places = ["--quarantine", str(quarantine)] if i % 2 else []
            process = subprocess.Popen([harness.ICEWRIGHT, "--config", str(program.config), *args, *places],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, duration))
            process.kill()
            killed += process.wait() < 0
            assert clean <= set(table.listing()), sorted(clean - set(table.listing()))
            if places:
                program.run("orphans", "restore", table.id, *places)
                assert set(table.listing()) == clean | set(junk)
                # A write that was killed leaves half a file under a name of its own, which nothing names.
                left = [path.name for path in quarantine.rglob("*") if path.is_file() and path.suffix != ".tmp"]
                assert not left, left
            program.run(*args)
            assert set(table.listing()) == clean, sorted(set(table.listing()) ^ clean)
        assert killed >= 3, f"only {killed} runs were killed in {duration} s"
        assert not differences_in_java(java, "upsert_v3", table)


def quarantine_and_back(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        table = harness.Table("append_v2")
        make_old(table)
        program.run("delete-orphan-files", table.id)
        clean = table.listing()
        plant(table, "data/junk-1.parquet", "data/a b/junk%202", "metadata/junk-m0.avro")
        before = sizes(table)
        quarantine = ["--quarantine", f"file:{folder}/quarantine"]
        _, report = program.run("delete-orphan-files", table.id, *quarantine)
        assert report["counts"]["quarantined-files-count"] == 3 and table.listing() == clean, report
        one = f"file:{table.path}/data/a b/junk%202"
        _, report = program.run("orphans", "restore", table.id, *quarantine, "--path", one)
        assert report["counts"]["restored-files-count"] == 1, report
        assert set(table.listing()) == set(clean) | {"data/a b/junk%202"}
        program.run("orphans", "restore", table.id, *quarantine)
        assert sizes(table) == before, "every file comes back"
        make_old(table)
        program.run("delete-orphan-files", table.id, *quarantine)
        _, report = program.run("orphans", "purge", table.id, *quarantine)
        assert report["outcome"] == "nothing-to-do", report
        _, report = program.run("orphans", "purge", table.id, *quarantine, "--older-than", "0s")
        assert report["counts"]["purged-files-count"] == 3, report
        assert not [p for p in pathlib.Path(folder, "quarantine").rglob("*") if p.is_file()]


def what_must_not_be_cleaned_is_refused(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("append_v2")
        plant(table, "data/junk.parquet")
        metadata = table.metadata()
        metadata["properties"]["gc.enabled"] = "false"
        table.metadata_file().write_text(json.dumps(metadata))
        code, report = program.run("delete-orphan-files", table.id, check=False)
        assert (code, report["error"]["code"]) == (9, "unsupported"), report
        assert "gc.enabled" in report["error"]["message"], report

        table = harness.Table("jdbc_v2")
        plant(table, "data/junk.parquet")
        before = table.listing()
        code, report = program.run("delete-orphan-files", str(table.path), check=False)
        assert (code, report["error"]["code"]) == (9, "unsupported"), report
        assert "register" in report["error"]["message"], report
        # Another table in the folder.
        shutil.copytree(harness.Table("append_v2").path, table.path / "nested")
        code, report = program.run("delete-orphan-files", table.id, check=False)
        assert code == 2 and "another table" in report["error"]["message"], report
        shutil.rmtree(table.path / "nested")
        assert table.listing() == before


def a_list_of_files_takes_the_place_of_the_listing(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        table = harness.Table("append_v2")
        plant(table, "data/junk-1.parquet", "data/junk-2.parquet")
        lines = ["file_path\tlast_modified\tsize"]
        for file, (size, changed) in table.listing().items():
            if file != "data/junk-2.parquet":
                lines.append(f"file:{table.path}/{file}\t2024-01-01T00:00:00Z\t{size}")
        files = pathlib.Path(folder) / "files.tsv"
        files.write_text("\n".join(lines) + "\n")
        _, report = program.run("delete-orphan-files", table.id, "--compare-to-file-list", str(files))
        assert report["counts"]["deleted-files-count"] == 1, report
        assert "data/junk-2.parquet" in table.listing() and "data/junk-1.parquet" not in table.listing()


if __name__ == "__main__":
    harness.main(
        the_same_files_go_as_in_flink_and_the_one_it_misses,
        in_tables_of_all_engines_only_the_junk_goes,
        java_writes_while_orphans_go,
        killed_at_any_moment_the_next_run_finishes,
        quarantine_and_back,
        what_must_not_be_cleaned_is_refused,
        a_list_of_files_takes_the_place_of_the_listing,
    )
