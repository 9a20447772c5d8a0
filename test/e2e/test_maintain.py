"""The whole chain of maintenance on tables of real Flink; real Java Iceberg judges what is left."""

import json

import harness

STEPS = ["rewrite-data-files", "convert-equality-deletes", "remove-dangling-deletes", "expire-snapshots",
         "delete-orphan-files", "rewrite-manifests"]


def outcomes(report):
    return {step["task"]: step["outcome"] for step in report["steps"]}


def the_chain_leaves_what_java_reads(folder):
    """Compact, expire to one snapshot: rows are the same, Java finds nothing wrong, nothing is left over."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong = []
        for name in ("append_v2", "upsert_v2", "upsert_part_v3", "changelog_v2", "plain_v1", "jdbc_v2", "events_v2"):
            table = harness.Table(name)
            args = ["maintain", table.id, "--count-only", "--retain-last", "1", "--no-flink-guard"]
            before = table.listing()
            _, plan = program.run(*args, "--dry-run")
            if plan["outcome"] != "planned" or table.listing() != before:
                wrong.append(f"{name}: dry run {plan['outcome']}")
            _, report = program.run(*args)
            if [step["task"] for step in report["steps"]] != STEPS:
                wrong.append(f"{name}: {outcomes(report)}")
            if report["outcome"] != "done" or report["failures"] or report["leftovers"]:
                wrong.append(f"{name}: {report['outcome']} {report['failures']}")
            if any(step["outcome"] == "nothing-to-do" and not step["reason"] for step in report["steps"]):
                wrong.append(f"{name}: skipped without a reason")
            # Manifests are rewritten last: their commit is on top of what expiry left.
            if len(table.metadata()["snapshots"]) != 1 + (outcomes(report)["rewrite-manifests"] == "done"):
                wrong.append(f"{name}: {len(table.metadata()['snapshots'])} snapshots")
            dump = java.call(f"dump {table.oracle_args}")
            if harness.rows_of(dump) != harness.rows_of(harness.expected(name)):
                wrong.append(f"{name}: Java reads {dump['rows']}")
            if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
                wrong.append(f"{name}: Java finds {new}")
            live = {f["path"] for f in dump["data_files"] + dump["delete_files"]}
            there = {f for f in table.listing() if f.startswith("data/")}
            if there - live:
                wrong.append(f"{name}: unreachable {sorted(there - live)[:3]}")
            program.run(*args)
            _, again = program.run(*args)
            if again["outcome"] != "nothing-to-do":
                wrong.append(f"{name}: a third run: {outcomes(again)}")
        assert not wrong, "\n".join(wrong)


def the_default_keeps_a_hundred_snapshots(folder):
    """A table of 120 commits without history.expire.*: all older than a day, twenty go."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("append_v2")
        metadata = table.metadata()
        for key in [key for key in metadata["properties"] if key.startswith("history.expire.")]:
            del metadata["properties"][key]
        table.metadata_file().write_text(json.dumps(metadata))
        _, report = program.run("maintain", table.id, "--skip", "rewrite-data-files,rewrite-manifests")
        count = len(metadata["snapshots"])
        assert "the last 100 snapshot(s)" in report["notes"][0], report["notes"]
        assert len(table.metadata()["snapshots"]) == min(count, 100)
        metadata = table.metadata()
        metadata["properties"]["history.expire.min-snapshots-to-keep"] = "3"
        metadata["properties"]["history.expire.max-snapshot-age-ms"] = "1"
        table.metadata_file().write_text(json.dumps(metadata))
        _, report = program.run("maintain", table.id, "--skip", "rewrite-data-files,rewrite-manifests", "--no-flink-guard")
        assert len(table.metadata()["snapshots"]) == 3, report


def a_damaged_file_stops_the_deletes(folder):
    """Exit code 9; expiry does not run, whatever it could delete."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("append_v2")
        victim = next(path for path in sorted(table.path.rglob("data/*.parquet")))
        victim.write_bytes(victim.read_bytes()[:100] + b"x" * (victim.stat().st_size - 100))
        before = table.listing()
        code, report = program.run("maintain", table.id, "--count-only", "--retain-last", "1", "--no-flink-guard", check=False)
        steps = outcomes(report)
        assert steps["expire-snapshots"] == "failed", steps
        assert code in (4, 9), code
        missing = {f for f in before.keys() - table.listing().keys()}
        assert not missing, missing


harness.main(the_chain_leaves_what_java_reads, the_default_keeps_a_hundred_snapshots, a_damaged_file_stops_the_deletes)
