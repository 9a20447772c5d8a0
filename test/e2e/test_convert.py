"""Converts what Flink wrote, and compares with what Flink's own conversion left; Java and PyIceberg judge."""

import json
import pathlib
import random
import shutil
import subprocess
import time

import harness

KEYS = {"upsert_v3": "id", "upsert_part_v3": "id,cat", "staged_v3": "id"}


def convert(name, *more):
    staged = ["--staging-branch", "staging"] if name == "staged_v3" else []
    return ["convert-equality-deletes", harness.Table(name).id, "--equality-field-columns", KEYS[name], *staged, *more]


def recorded(name, what):
    return json.loads((harness.FIXTURES / "expected" / name / f"after-convert-equality-deletes-{what}.json").read_text())


def vectors(dump):
    """Deleted rows by data file. Two vectors for one file would be a second entry."""
    return sorted((f["referenced_data_file"], f["records"]) for f in dump["delete_files"])


def live(dump):
    return {f["path"] for f in dump["data_files"]}


def differences(java, name, table, after):
    """Between what Java reads of our result and what it read of Flink's."""
    dump = java.call(f"dump {table.oracle_args}")
    found = []
    if others := [f["path"] for f in dump["delete_files"] if f["format"] != "puffin"]:
        found.append(f"not converted: {others}")
    if vectors(dump) != vectors(after):
        found.append(f"vectors {vectors(dump)}, Flink has {vectors(after)}")
    if live(dump) != live(after):
        found.append(f"data files {live(dump)}, Flink has {live(after)}")
    if dump["rows"] != after["rows"]:
        found.append(f"Java reads {dump['rows']}, after Flink {after['rows']}")
    if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
        found.append(f"Java finds {new}")
    return found


def in_place_the_same_vectors_as_flink(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        table = harness.Table("upsert_v3")
        before = table.listing()
        _, plan = program.run(*convert("upsert_v3", "--dry-run"))
        assert table.listing() == before, "a dry run changed files"
        assert plan["counts"] == {"equality-delete-files": 30, "equality-deletes": 3587, "staging-snapshots": 15}, plan
        _, report = program.run(*convert("upsert_v3"))
        assert report["counts"]["removed-eq-delete-num"] == 30, report
        after = recorded("upsert_v3", "to-end")
        assert not (wrong := differences(java, "upsert_v3", table, after)), "\n".join(wrong)
        marker = table.metadata()["snapshots"][-1]["summary"]["equality-convert-staging-snapshot"]
        assert marker == after["snapshots"][-1]["summary"]["equality-convert-staging-snapshot"], marker
        _, again = program.run(*convert("upsert_v3"))
        assert again["outcome"] == "nothing-to-do", again


def one_snapshot_at_a_time_ends_the_same(folder, *way):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        table = harness.Table("upsert_v3")
        for run in range(15):
            _, report = program.run(*convert("upsert_v3", "--max-staging-snapshots", "1", *way))
            assert report["counts"]["processed-staging-snapshot-num"] == 1, report
        _, report = program.run(*convert("upsert_v3", "--max-staging-snapshots", "1"))
        assert report["outcome"] == "nothing-to-do", report
        wrong = differences(java, "upsert_v3", table, recorded("upsert_v3", "to-end"))
        assert not wrong, "\n".join(wrong)


def promotion_makes_the_snapshots_that_flink_made(folder, *way):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        table = harness.Table("staged_v3")
        wrong = []
        for more, what in ((["--max-staging-snapshots", "1"], "once"), ([], "to-end")):
            program.run(*convert("staged_v3", *more, *way))
            after = recorded("staged_v3", what)
            wrong += [f"{what}: {line}" for line in differences(java, "staged_v3", table, after)]
        ours, theirs = (d["snapshots"][6:] for d in (table.metadata(), recorded("staged_v3", "to-end")))
        # What depends on names and on how manifests are merged.
        loose = {"added-files-size", "removed-files-size", "total-files-size", "manifests-created", "manifests-kept",
                 "manifests-replaced", "engine-name", "engine-version", "iceberg-version", "operation"}
        for mine, flinks in zip(ours, theirs, strict=True):
            operation, a, b = mine["summary"]["operation"], mine["summary"], flinks["summary"]
            if operation != flinks["operation"] or {k: v for k, v in a.items() if k not in loose} != {
                    k: v for k, v in b.items() if k not in loose}:
                wrong.append(f"snapshot {a}, Flink's {b}")
        assert not wrong, "\n".join(wrong)
        _, again = program.run(*convert("staged_v3"))
        assert again["outcome"] == "nothing-to-do", again
        _, staging = program.run("scan", table.id, "--branch", "staging", "--digest")
        _, main = program.run("scan", table.id, "--digest")
        assert staging["digest"] == main["digest"], (staging, main)


def with_an_index(folder):
    return ["--resolve", "indexed", "--index-path", str(pathlib.Path(folder) / "index")]


def an_index_changes_nothing_in_place(folder):
    one_snapshot_at_a_time_ends_the_same(folder, *with_an_index(folder))


def an_index_changes_nothing_in_promotion(folder):
    promotion_makes_the_snapshots_that_flink_made(folder, *with_an_index(folder))


def the_partitioned_table_reads_the_same_everywhere(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        tables = {name: harness.Table(name) for name in ("upsert_v3", "upsert_part_v3")}
        for name, table in tables.items():
            program.run(*convert(name))
            dump = java.call(f"dump {table.oracle_args}")
            assert dump["rows"] == harness.expected(name)["rows"], (name, dump["rows"])
            assert not harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")), name
        request = {name: {"metadata": f"file:{table.metadata_file()}"} for name, table in tables.items()}
        for name, got in harness.peer("peer_digest.py", {"tables": request}).items():
            rows = harness.expected(name)["rows"]
            assert got == {"count": rows["count"], "digest": rows["digest"]}, (name, got)


def compaction_and_expiry_go_on_after_it(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("staged_v3")
        program.run(*convert("staged_v3", "--max-staging-snapshots", "2"))
        program.run("rewrite-data-files", table.id, "--rewrite-all")
        program.run(*convert("staged_v3"))
        program.run("expire-snapshots", table.id, "--max-snapshot-age", "0s", "--retain-last", "1", "--no-flink-guard")
        want = recorded("staged_v3", "to-end")["rows"]
        dump = harness.Java.shared().call(f"dump {table.oracle_args}")
        assert (dump["rows"]["count"], dump["rows"]["digest"]) == (want["count"], want["digest"]), dump["rows"]


def what_cannot_be_converted_is_named(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        cases = [
            (["upsert_v2", "--equality-field-columns", "id"], 9, "need format version 3; the table has 2"),
            (["upsert_v3"], 2, "equality-field-columns is not set"),
            (["upsert_v3", "--equality-field-columns", "idd"], 2, "the table has no column 'idd'"),
            (["upsert_v3", "--equality-field-columns", "amount"], 9, "'amount' is a floating-point column"),
            (["upsert_v3", "--equality-field-columns", "id,cat"], 9, "has the columns id, but"),
            (["upsert_part_v3", "--equality-field-columns", "id"], 9, "has the columns id,cat, but"),
            (["staged_v3", "--equality-field-columns", "id", "--staging-branch", "stage"], 2, "no branch 'stage'"),
        ]
        for (name, *args), want, message in cases:
            table = harness.Table(name)
            before = table.listing()
            code, report = program.run("convert-equality-deletes", table.id, *args, check=False)
            assert code == want and message in report["error"]["message"], (name, args, code, report)
            assert table.listing() == before, (name, args)


def a_lost_marker_is_refused_until_told(folder):
    """Rolled back behind the promotion: what was promoted must not come twice."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("staged_v3")
        start = pathlib.Path(folder) / "start"
        shutil.copytree(table.path, start)
        program.run(*convert("staged_v3", "--max-staging-snapshots", "2"))
        metadata = table.metadata()
        first, second = (s["summary"]["equality-convert-staging-snapshot"] for s in metadata["snapshots"][-2:])
        # Main as it was before any promotion, by somebody's rollback.
        rolled_back = metadata["snapshots"][-2]["parent-snapshot-id"]
        metadata["refs"]["main"]["snapshot-id"] = metadata["current-snapshot-id"] = rolled_back
        table.metadata_file().write_text(json.dumps(metadata))
        code, report = program.run(*convert("staged_v3"), check=False)
        assert code == 3 and f"snapshot {second} was promoted" in report["error"]["message"], (code, report)
        assert "--resume-from" in report["error"]["message"], report
        before_first = [s for s in metadata["snapshots"] if str(s["snapshot-id"]) == first][0]["parent-snapshot-id"]
        code, report = program.run(*convert("staged_v3", "--resume-from", "42"), check=False)
        assert code == 2, (code, report)
        program.run(*convert("staged_v3", "--resume-from", str(before_first)))
        want = recorded("staged_v3", "to-end")["rows"]
        dump = harness.Java.shared().call(f"dump {table.oracle_args}")
        assert (dump["rows"]["count"], dump["rows"]["digest"]) == (want["count"], want["digest"]), dump["rows"]


def snapshots_without_counters_are_promoted(folder):
    """The counters of a summary are optional: what a snapshot did stands in its manifests."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("staged_v3")
        metadata = table.metadata()
        for snapshot in metadata["snapshots"]:
            snapshot["summary"] = {"operation": snapshot["summary"]["operation"]}
        table.metadata_file().write_text(json.dumps(metadata))
        _, report = program.run(*convert("staged_v3"))
        assert report["counts"]["processed-staging-snapshot-num"] == 4, report
        want = recorded("staged_v3", "to-end")["rows"]
        _, rows = program.run("scan", table.id, "--digest")
        assert (rows["rows"], rows["digest"]) == (want["count"], want["digest"]), rows


def killed_at_any_moment_the_next_run_finishes(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("staged_v3")
        start = pathlib.Path(folder) / "start"
        shutil.copytree(table.path, start)
        begin = time.monotonic()
        program.run(*convert("staged_v3"))
        duration = time.monotonic() - begin
        want = recorded("staged_v3", "to-end")["rows"]
        rng, killed = random.Random(20240601), 0
        for _ in range(25):
            shutil.rmtree(table.path)
            shutil.copytree(start, table.path)
            process = subprocess.Popen([harness.ICEWRIGHT, "--config", str(program.config), *convert("staged_v3")],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, duration))
            process.kill()
            killed += process.wait() == -9
            program.run(*convert("staged_v3"))
            _, rows = program.run("scan", table.id, "--digest")
            assert (rows["rows"], rows["digest"]) == (want["count"], want["digest"]), rows
        assert killed > 0, "no run was killed"


harness.main(in_place_the_same_vectors_as_flink, one_snapshot_at_a_time_ends_the_same,
             promotion_makes_the_snapshots_that_flink_made, an_index_changes_nothing_in_place,
             an_index_changes_nothing_in_promotion, the_partitioned_table_reads_the_same_everywhere,
             compaction_and_expiry_go_on_after_it, what_cannot_be_converted_is_named,
             a_lost_marker_is_refused_until_told, snapshots_without_counters_are_promoted,
             killed_at_any_moment_the_next_run_finishes)
