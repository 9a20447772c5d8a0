"""Rewrites manifests, removes dangling deletes and rewrites position deletes of all fixtures; Java and PyIceberg read on."""

import json
import pathlib
import random
import shutil
import subprocess
import time

import harness

FACTS = ("path", "data_seq", "file_seq", "snapshot_id", "first_row_id", "records", "size", "partition", "spec_id", "content",
         "equality_ids", "offset", "content_offset", "content_size", "referenced_data_file")


# What Java 1.11 fails on before anything is done to it.
JAVA_CANNOT_READ = {"geo_v3", "variant_v3", "ot_odd_brotli_v2", "ot_odd_parquet_v2", "ot_spark_legacylists_v2",
                    "ot_spark_variant_v3"}


def facts(dump, kind):
    """What Java reads of each live file, in no order."""
    return sorted((json.dumps({key: file.get(key) for key in FACTS}) for file in dump[kind]))


def read_by_java(java, table):
    """Java's dump of a fresh fixture; None where there is no snapshot or Java cannot read its rows."""
    if table.metadata().get("current-snapshot-id") in (None, -1) or table.name in JAVA_CANNOT_READ:
        return None
    recorded = harness.expected(table.name)
    by_another = "by" in recorded["rows"]  # Java reads this one otherwise
    return java.call(f"dump {table.oracle_args}") if by_another else recorded


def state(table):
    """All files of a table with their sizes and times of change, and which is its metadata."""
    files = [path for path in table.path.rglob("*") if path.is_file()]
    return sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files), table.metadata_file()


def new_snapshots(table, before):
    known = {s["snapshot-id"] for s in before["snapshots"]}
    return [s for s in table.metadata()["snapshots"] if s["snapshot-id"] not in known]


def differences(name, table, java, before):
    """What Java and its check find otherwise than before."""
    after = java.call(f"dump {table.oracle_args}")
    found = []
    if harness.rows_of(after) != harness.rows_of(before):
        found.append(f"{name}: Java reads {after['rows']}, before {before['rows']}")
    if facts(after, "data_files") != facts(before, "data_files"):
        found.append(f"{name}: data files differ")
    if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
        found.append(f"{name}: Java finds {new}")
    return after, found


def pyiceberg_reads(tables):
    """Digests by PyIceberg of tables it can read, against those recorded."""
    request = {name: {"metadata": f"file:{harness.Table(name).metadata_file()}"} for name in tables}
    return harness.peer("peer_digest.py", {"tables": request})


def manifests_of_every_fixture(folder):
    """Every live entry keeps what Java reads of it; a second run commits nothing."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong, committed = [], 0
        for name in harness.fixture_names():
            table = harness.Table(name)
            metadata, before = table.metadata(), read_by_java(java, table)
            if before is None:
                continue
            code, plan = program.run("rewrite-manifests", table.id, "--dry-run", check=False)
            if code != 0:
                wrong.append(f"{name}: {plan}")
                continue
            if table.metadata() != metadata:
                wrong.append(f"{name}: a dry run changed the table")
            _, report = program.run("rewrite-manifests", table.id)
            after, found = differences(name, table, java, before)
            wrong += found
            if facts(after, "delete_files") != facts(before, "delete_files"):
                wrong.append(f"{name}: delete files differ")
            if report["outcome"] == "done":
                committed += 1
                summary = new_snapshots(table, metadata)[0]["summary"]
                old = next(s for s in metadata["snapshots"] if s["snapshot-id"] == metadata["current-snapshot-id"])["summary"]
                totals = {key: value for key, value in old.items() if key.startswith("total-")}
                if any(summary.get(key) != value for key, value in totals.items()):
                    wrong.append(f"{name}: totals {summary}, before {totals}")
                if int(summary["entries-processed"]) != report["counts"]["entries-processed"]:
                    wrong.append(f"{name}: {summary}")
                if plan["counts"]["planned-manifests-count"] != report["counts"]["rewritten-manifests-count"]:
                    wrong.append(f"{name}: planned {plan['counts']}, done {report['counts']}")
            _, again = program.run("rewrite-manifests", table.id)
            if again["outcome"] != "nothing-to-do":
                wrong.append(f"{name}: a second run: {again['counts']}")
        assert not wrong, "\n".join(wrong)
        assert committed >= 15, committed
        print(f"{committed} tables rewritten", flush=True)


def manifests_like_flink(folder):
    """The tables whose manifests Java rewrote: the same entries processed, no more manifests than Java has."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        names = [n for n in harness.fixture_names() if (harness.FIXTURES / "expected" / n / "after-rewrite-manifests.json").exists()]
        assert len(names) == 3, names
        wrong = []
        for name in names:
            table = harness.Table(name)
            recorded = json.loads((harness.FIXTURES / "expected" / name / "after-rewrite-manifests.result.json").read_text())
            theirs = recorded["new_snapshots"][0]["summary"]
            before = table.metadata()
            program.run("rewrite-manifests", table.id, "--rewrite-all")
            ours = new_snapshots(table, before)[0]["summary"]
            for key, value in theirs.items():
                if key.startswith("total-") or key in ("entries-processed", "manifests-replaced", "manifests-kept", "changed-partition-count"):
                    if ours.get(key) != value:
                        wrong.append(f"{name}: {key} is {ours.get(key)}, Java's {value}")
            if int(ours["manifests-created"]) > int(theirs["manifests-created"]):
                wrong.append(f"{name}: {ours['manifests-created']} manifests, Java made {theirs['manifests-created']}")
        assert not wrong, "\n".join(wrong)


def dangling_deletes_of_every_fixture(folder):
    """No row comes back, nothing that Java attaches to a data file goes; a second run commits nothing."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong, removed = [], 0
        for name in harness.fixture_names():
            table = harness.Table(name)
            before = read_by_java(java, table)
            if before is None:
                continue
            files = state(table)
            code, report = program.run("remove-dangling-deletes", table.id, check=False)
            if code != 0:
                wrong.append(f"{name}: {report}")
                continue
            if report["outcome"] == "nothing-to-do":
                if state(table) != files:
                    wrong.append(f"{name}: nothing to do, but its files changed")
                continue
            removed += report["counts"].get("removed-delete-files-count", 0)
            wrong += differences(name, table, java, before)[1]
            _, again = program.run("remove-dangling-deletes", table.id)
            if again["outcome"] != "nothing-to-do":
                wrong.append(f"{name}: a second run: {again['counts']}")
        assert not wrong, "\n".join(wrong)
        assert removed > 0
        print(f"{removed} deletes removed", flush=True)


def compaction_with_dangling_deletes(folder):
    """After a full compaction with the option no delete is left."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong = []
        for name in ("posdel_v2", "upsert_v2", "changelog_v2"):
            table = harness.Table(name)
            before = java.call(f"dump {table.oracle_args}")
            _, report = program.run("rewrite-data-files", table.id, "--rewrite-all", "--use-starting-sequence-number=true",
                                    "--remove-dangling-deletes")
            after = java.call(f"dump {table.oracle_args}")
            if after["rows"]["digest"] != before["rows"]["digest"]:
                wrong.append(f"{name}: Java reads {after['rows']}, before {before['rows']}")
            if [f for f in after["delete_files"] if f["content"] == "position_deletes"]:
                wrong.append(f"{name}: position deletes are left: {report['counts']}")
            if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
                wrong.append(f"{name}: Java finds {new}")
        assert not wrong, "\n".join(wrong)


def position_deletes_of_every_fixture(folder):
    """Rows stay the same by Java's reading, whatever is merged; a second run commits nothing."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong, written = [], 0
        for name in harness.fixture_names():
            table = harness.Table(name)
            before = read_by_java(java, table)
            if before is None:
                continue
            files = state(table)
            code, report = program.run("rewrite-position-deletes", table.id, "--min-input-files", "1", check=False)
            if code != 0:
                wrong.append(f"{name}: {report}")
                continue
            if report["outcome"] == "nothing-to-do":
                if state(table) != files:
                    wrong.append(f"{name}: nothing to do, but its files changed")
                continue
            written += report["counts"].get("added-delete-files-count", 0)
            wrong += differences(name, table, java, before)[1]
            _, again = program.run("rewrite-position-deletes", table.id, "--min-input-files", "1")
            if again["outcome"] != "nothing-to-do":
                wrong.append(f"{name}: a second run: {again['counts']}")
        assert not wrong, "\n".join(wrong)
        assert written >= 3, written
        print(f"{written} delete files written", flush=True)


def position_deletes_in_every_format(folder):
    """Parquet, ORC and Avro, by partition and by data file: Java and PyIceberg read the same rows."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        table = harness.Table("posdel_v2")
        start = pathlib.Path(folder) / "start"
        shutil.copytree(table.path, start)
        wrong = []
        for kind in ("parquet", "orc", "avro"):
            for granularity in ("partition", "file"):
                shutil.rmtree(table.path)
                shutil.copytree(start, table.path)
                metadata = table.metadata()
                metadata["properties"] |= {"write.delete.format.default": kind, "write.delete.granularity": granularity}
                table.metadata_file().write_text(json.dumps(metadata))
                before = java.call(f"dump {table.oracle_args}")
                program.run("rewrite-position-deletes", table.id, "--rewrite-all")
                after, found = differences("posdel_v2", table, java, before)
                wrong += [f"{kind} {granularity}: {line}" for line in found]
                deletes = [f for f in after["delete_files"] if f["content"] == "position_deletes"]
                if not deletes or {f["format"] for f in deletes} != {kind}:
                    wrong.append(f"{kind} {granularity}: {deletes}")
                _, digest = program.run("scan", table.id, "--digest")
                if digest["digest"] != before["rows"]["digest"]:
                    wrong.append(f"{kind} {granularity}: icewright reads {digest}")
        assert not wrong, "\n".join(wrong)


def position_deletes_become_vectors(folder):
    """After an upgrade to format version 3: one vector per data file, and Java reads the same rows."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong = []
        for name in ("posdel_v2", "upsert_v2", "changelog_v2"):
            table = harness.Table(name)
            metadata = table.metadata()
            metadata |= {"format-version": 3, "next-row-id": 0}
            table.metadata_file().write_text(json.dumps(metadata))
            before = java.call(f"dump {table.oracle_args}")
            _, report = program.run("rewrite-position-deletes", table.id)
            if report["outcome"] != "done":
                wrong.append(f"{name}: {report}")
            after = java.call(f"dump {table.oracle_args}")
            if after["rows"]["digest"] != before["rows"]["digest"]:
                wrong.append(f"{name}: Java reads {after['rows']}, before {before['rows']}")
            deletes = [f for f in after["delete_files"] if f["content"] == "position_deletes"]
            if not deletes or {f["format"] for f in deletes} != {"puffin"}:
                wrong.append(f"{name}: {deletes[:3]}")
            if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
                wrong.append(f"{name}: Java finds {new}")
        assert not wrong, "\n".join(wrong)


def killed_at_any_moment_nothing_is_lost(folder):
    """kill -9 at random moments of rewrite-manifests: the table reads as before, and the next run finishes."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        table = harness.Table("events_v2")
        start = pathlib.Path(folder) / "start"
        shutil.copytree(table.path, start)
        begin = time.monotonic()
        program.run("rewrite-manifests", table.id)
        duration = time.monotonic() - begin
        want = harness.rows_of(harness.expected("events_v2"))["digest"]
        rng, killed = random.Random(20240601), 0
        for _ in range(25):
            shutil.rmtree(table.path)
            shutil.copytree(start, table.path)
            process = subprocess.Popen([harness.ICEWRIGHT, "--config", str(program.config), "rewrite-manifests", table.id],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 1.2 * duration))
            process.kill()
            killed += process.wait() < 0
            _, digest = program.run("scan", table.id, "--digest")
            assert digest["digest"] == want, digest
            program.run("rewrite-manifests", table.id)
            _, again = program.run("rewrite-manifests", table.id)
            assert again["outcome"] == "nothing-to-do", again
        assert killed >= 3, f"only {killed} runs were killed in {duration} s"
        assert not harness.new_problems("events_v2", java.call(f"check {table.oracle_args} --soft"))


def pyiceberg_reads_the_result(folder):
    """PyIceberg plans with the new manifests and reads the same rows."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        names = ["append_v2", "events_v2", "plain_v1", "flights"]
        before = pyiceberg_reads(names)
        for name in names:
            program.run("rewrite-manifests", harness.Table(name).id, "--rewrite-all")
        assert pyiceberg_reads(names) == before


harness.main(manifests_of_every_fixture, manifests_like_flink, dangling_deletes_of_every_fixture,
             compaction_with_dangling_deletes, position_deletes_of_every_fixture, position_deletes_in_every_format,
             position_deletes_become_vectors, killed_at_any_moment_nothing_is_lost, pyiceberg_reads_the_result)
