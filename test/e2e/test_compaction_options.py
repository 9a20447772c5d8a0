"""Compaction with defaults and with options: what changes, what does not, and what Java says to it."""

import harness
from harness import rows_of


def judge(table, ref=None):
    """Java finds the expected rows and no damage; returns its dump."""
    java = harness.Java.shared()
    dump = java.call(f"dump {table.oracle_args}" + (f" --ref {ref}" if ref else ""))
    want = rows_of(harness.expected(table.name, ref))
    assert rows_of(dump) == want, f"{table.name} {ref}: Java reads {rows_of(dump)}, expected {want}"
    problems = harness.new_problems(table.name, java.call(f"check {table.oracle_args} --soft"))
    assert problems == [], f"{table.name}: {problems}"
    return dump


def a_second_run_with_defaults_commits_nothing(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        for name in ("flights", "append_v2", "upsert_v2", "jdbc_v2"):
            table = harness.Table(name)
            _, first = program.run("rewrite-data-files", table.id)
            assert first["outcome"] == "done", (name, first)
            before, pointer = table.listing(), table.metadata_file()
            _, second = program.run("rewrite-data-files", table.id)
            assert (second["outcome"], second["snapshot_ids"]) == ("nothing-to-do", []), (name, second)
            assert table.listing() == before and table.metadata_file() == pointer, name


def a_dry_run_writes_nothing_and_says_what_a_run_does(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        for name in ("flights", "upsert_v3", "jdbc_v2"):
            table = harness.Table(name)
            before, pointer = table.listing(), table.metadata_file()
            _, plan = program.run("rewrite-data-files", table.id, "--dry-run", "--rewrite-all")
            assert (plan["outcome"], plan["snapshot_ids"]) == ("planned", []), (name, plan)
            assert table.listing() == before and table.metadata_file() == pointer, name
            _, done = program.run("rewrite-data-files", table.id, "--rewrite-all")
            for key, value in plan["counts"].items():
                assert done["counts"][key] == value, (name, key, plan["counts"], done["counts"])


def sorting_keeps_the_rows_and_orders_every_file(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        table = harness.Table("flights")
        _, report = program.run("rewrite-data-files", table.id, "--strategy", "sort", "--sort-order",
                                "carrier desc nulls first, flight asc", "--target-file-size-bytes", "60000", "--rewrite-all")
        assert report["outcome"] == "done", report
        dump = judge(table)
        files = [str(table.path / f["path"]) for f in dump["data_files"]]
        assert 20 < len(files) < 268, len(files)
        keys = harness.peer("peer_columns.py", {"files": files, "columns": ["carrier", "flight"]})
        for path in files:
            rows = keys[path]
            assert rows == sorted(rows, key=lambda row: ([-ord(c) for c in row[0]], row[1])), path


def partial_progress_commits_in_steps(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        table = harness.Table("flights")
        before = len(table.metadata()["snapshots"])
        _, report = program.run("rewrite-data-files", table.id, "--partial-progress.enabled",
                                "--partial-progress.max-commits", "4", "--rewrite-all")
        assert (report["outcome"], len(report["snapshot_ids"])) == ("done", 4), report
        snapshots = table.metadata()["snapshots"]
        assert [s["snapshot-id"] for s in snapshots[before:]] == report["snapshot_ids"]
        assert all(s["summary"]["operation"] == "replace" for s in snapshots[before:])
        want = rows_of(harness.expected("flights"))
        for snapshot in report["snapshot_ids"]:  # each step alone is a sound table
            _, digest = program.run("scan", table.id, "--digest", "--snapshot", str(snapshot))
            assert (digest["rows"], digest["digest"]) == (want["count"], want["digest"]), digest
        files = len(judge(table)["data_files"])
        assert files == 13, files  # one for each month


def compacting_a_branch_leaves_the_others(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        for name, branch in (("refs_v2", "audit"), ("staged_v3", "staging")):
            table = harness.Table(name)
            refs = table.metadata()["refs"]
            digests = {}
            for ref in refs:
                digests[ref] = program.run("scan", table.id, "--digest", f"--{refs[ref]['type']}", ref)[1]
            _, report = program.run("rewrite-data-files", table.id, "--rewrite-all", "--branch", branch)
            assert report["outcome"] == "done", (name, report)
            after = table.metadata()["refs"]
            assert after.pop(branch)["snapshot-id"] == report["snapshot_ids"][0]
            del refs[branch]
            assert after == refs, (name, after)
            for ref, digest in digests.items():
                kind = refs[ref]["type"] if ref in refs else "branch"
                assert program.run("scan", table.id, "--digest", f"--{kind}", ref)[1] == digest, (name, ref)
            judge(table, branch)
            want, digest = rows_of(harness.expected(name, branch)), digests[branch]
            assert (digest["rows"], digest["digest"]) == (want["count"], want["digest"]), (name, digest)
            assert digest.get("lineage_digest") == want.get("lineage_digest"), (name, digest, want)


harness.main(a_second_run_with_defaults_commits_nothing, a_dry_run_writes_nothing_and_says_what_a_run_does,
             sorting_keeps_the_rows_and_orders_every_file, partial_progress_commits_in_steps,
             compacting_a_branch_leaves_the_others)
