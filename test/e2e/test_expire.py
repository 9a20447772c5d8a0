"""Expires the fixtures that Flink expired, and compares; real Java Iceberg judges what is left."""

import json
import pathlib
import random
import shutil
import subprocess
import time

import harness

# Recorded with the Java builder's names.
OPTION = {"maxSnapshotAge": {"PT0S": ["--max-snapshot-age", "0s"]}}


def arguments_of(options):
    """The recorded run's options, as icewright spells them. Java's knows no Flink guard."""
    args = ["--no-flink-guard"]
    for key, value in options.items():
        if key == "retainLast":
            args += ["--retain-last", value]
        elif key == "cleanExpiredMetadata":
            args += [f"--clean-expired-metadata={value}"]
        else:
            args += OPTION[key][value]
    if "cleanExpiredMetadata" not in options:
        args += ["--clean-expired-metadata=false"]
    return args


def recorded(name, what):
    return json.loads((harness.FIXTURES / "expected" / name / f"after-expire-snapshots.{what}").read_text())


def recorded_names():
    return [n for n in harness.fixture_names()
            if (harness.FIXTURES / "expected" / n / "after-expire-snapshots.json").exists()]


def make_young(table):
    """Moves the table's times to now: some of its branches and tags expire by age."""
    metadata = table.metadata()
    shift = int((time.time() - 60) * 1000) - metadata["last-updated-ms"]
    metadata["last-updated-ms"] += shift
    for entry in metadata["snapshots"] + metadata["snapshot-log"] + metadata["metadata-log"]:
        entry["timestamp-ms"] += shift
    table.metadata_file().write_text(json.dumps(metadata))


def differences_in_java(java, name, table, after):
    """What Java reads otherwise than recorded, and what it complains about."""
    dump = java.call(f"dump {table.oracle_args}")
    found = [f"{key}: Java reads {dump[key]}, expected {after[key]}"
             for key in ("refs", "specs", "schemas", "current_snapshot_id") if dump[key] != after[key]]
    ids, want = ([s["id"] for s in d["snapshots"]] for d in (dump, after))
    if ids != want:
        found.append(f"Java sees snapshots {ids}, expected {want}")
    if dump["rows"] != after["rows"]:
        found.append(f"Java reads {dump['rows']}, expected {after['rows']}")
    if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
        found.append(f"Java finds {new}")
    return found


def the_same_snapshots_and_files_go_as_in_flink(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        names = recorded_names()
        assert len(names) == 6, names
        wrong = []
        for name in names:
            table = harness.Table(name)
            result = recorded(name, "result.json")
            make_young(table)
            before = table.listing()
            args = ["expire-snapshots", table.id, *arguments_of(result["options"])]
            _, plan = program.run(*args, "--dry-run")
            if table.listing() != before:
                wrong.append(f"{name}: a dry run changed files")
            _, report = program.run(*args)
            gone, want = before.keys() - table.listing().keys(), set(result["files_removed"])
            if gone != want:
                wrong.append(f"{name}: also gone {sorted(gone - want)}, still there {sorted(want - gone)}")
            counts = report["counts"]
            for key, value in plan["counts"].items():
                if key.startswith("planned-") and counts["deleted-" + key[8:]] != value:
                    wrong.append(f"{name}: {key} {value}, but {counts}")
            if counts["expired-snapshots-count"] != result["snapshots_before"] - result["snapshots_after"]:
                wrong.append(f"{name}: {counts}")
            if report["outcome"] != "done" or report["leftovers"] or report["failures"]:
                wrong.append(f"{name}: {report}")
            _, again = program.run(*args)
            if again["outcome"] != "nothing-to-do":
                wrong.append(f"{name}: a second run: {again}")
            wrong += [f"{name}: {line}" for line in differences_in_java(java, name, table, recorded(name, "json"))]
        assert not wrong, "\n".join(wrong)


def replaced_data_files_go_at_once(folder):
    """Java leaves them until the replace snapshot expires; here only the new files stay."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong = []
        for name in ("append_v2", "upsert_v3", "jdbc_v2"):
            table = harness.Table(name)
            _, rewrite = program.run("rewrite-data-files", table.id, "--rewrite-all")
            _, report = program.run("expire-snapshots", table.id, "--max-snapshot-age", "0s", "--retain-last", "1",
                                    "--no-flink-guard")
            replaced, counts = rewrite["counts"]["rewritten-data-files-count"], report["counts"]
            if counts["deleted-data-files-count"] != replaced or replaced == 0:
                wrong.append(f"{name}: {replaced} replaced, but {counts}")
            dump = java.call(f"dump {table.oracle_args}")
            live = {f["path"] for f in dump["data_files"] + dump["delete_files"]}
            there = {f for f in table.listing() if f.startswith("data/")}
            if there != live:
                wrong.append(f"{name}: unreachable {sorted(there - live)}, missing {sorted(live - there)}")
            if [f for f in table.listing() if "icewright-deletions" in f]:
                wrong.append(f"{name}: a journal stays")
            if harness.rows_of(dump) != harness.rows_of(harness.expected(name)):
                wrong.append(f"{name}: Java reads {dump['rows']}")
            if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
                wrong.append(f"{name}: Java finds {new}")
        assert not wrong, "\n".join(wrong)


def the_guard_keeps_the_marker_of_a_living_job(folder):
    """The history down to the oldest of the jobs' newest snapshots stays; without the guard it goes."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("append_v2")
        args = ["expire-snapshots", table.id, "--max-snapshot-age", "0s", "--retain-last", "1", "--dry-run"]
        _, free = program.run(*args, "--no-flink-guard")
        _, guarded = program.run(*args, "--flink-guard-age", "36500d")
        _, snapshots = program.run("inspect", table.id, "snapshots")
        newest = {}
        for position, snapshot in enumerate(reversed(snapshots)):
            summary = dict(snapshot["summary"])
            newest.setdefault(summary["flink.job-id"], position)
        assert free["counts"]["expired-snapshots-count"] == len(snapshots) - 1, free["counts"]
        kept = max(newest.values()) + 1
        assert guarded["counts"]["expired-snapshots-count"] == len(snapshots) - kept, (newest, guarded["counts"])


def lasting(table):
    """Files of the table, but what a killed write leaves to orphan clean-up: half a file under a name of its own, or a
    metadata file that nobody names."""
    return {f for f in table.listing() if ".metadata.json" not in f and not f.endswith(".tmp")}


def killed_at_any_moment_the_next_run_finishes(folder):
    """kill -9 at random moments; the second run leaves what an undisturbed one leaves."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("upsert_v3")
        program.run("rewrite-data-files", table.id, "--rewrite-all")
        start = pathlib.Path(folder) / "start"
        shutil.copytree(table.path, start)
        args = ["expire-snapshots", table.id, "--max-snapshot-age", "0s", "--retain-last", "1", "--no-flink-guard",
                "--delete-batch-size", "5"]
        begin = time.monotonic()
        program.run(*args)
        duration = time.monotonic() - begin
        clean = lasting(table)
        want = harness.rows_of(harness.expected("upsert_v3"))
        rng, killed, landed = random.Random(20240601), 0, 0
        for _ in range(40):
            shutil.rmtree(table.path)
            shutil.copytree(start, table.path)
            process = subprocess.Popen([harness.ICEWRIGHT, "--config", str(program.config), *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 1.2 * duration))
            process.kill()
            killed += process.wait() < 0
            landed += len(table.metadata()["snapshots"]) == 1
            _, digest = program.run("scan", table.id, "--digest")
            assert digest["digest"] == want["digest"], digest
            program.run(*args)
            files = lasting(table)
            assert files == clean, (sorted(files - clean), sorted(clean - files))
        assert killed >= 5, f"only {killed} runs were killed in {duration} s"
        java = harness.Java.shared()
        assert not harness.new_problems("upsert_v3", java.call(f"check {table.oracle_args} --soft"))
        print(f"killed {killed} of 40, {landed} commits had landed", flush=True)


def a_table_that_forbids_it_is_refused(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("append_v2")
        metadata = table.metadata()
        metadata["properties"]["gc.enabled"] = "false"
        table.metadata_file().write_text(json.dumps(metadata))
        before = table.listing()
        code, report = program.run("expire-snapshots", table.id, "--max-snapshot-age", "0s", check=False)
        assert (code, report["error"]["code"]) == (9, "unsupported"), report
        assert "gc.enabled" in report["error"]["message"], report
        assert table.listing() == before


harness.main(the_same_snapshots_and_files_go_as_in_flink, replaced_data_files_go_at_once,
             the_guard_keeps_the_marker_of_a_living_job, killed_at_any_moment_the_next_run_finishes,
             a_table_that_forbids_it_is_refused)
