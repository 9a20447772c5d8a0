"""The command line as a user meets it: exit codes, JSON shapes, errors that name object and next step."""

import json
import subprocess

import harness


def text(program, *args):
    done = subprocess.run([harness.ICEWRIGHT, "--config", str(program.config), *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def usage_errors_exit_with_2(folder):
    program = harness.Program(folder)
    for args in ([], ["frobnicate"], ["scan"], ["scan", "/t", "--output", "xml"], ["rewrite-data-files", "/t", "--no-such-option"],
                 ["--memory", "lots", "tables"], ["rewrite-data-files", "/t", "--min-input-files", "two"]):
        code, _, err = text(program, *args)
        assert code == 2, (args, code, err)
        assert err, args
    assert text(program, "--version")[:2] == (0, "icewright 0.1.0\n")
    code, out, _ = text(program, "rewrite-data-files", "--help")
    assert code == 0 and "--target-file-size-bytes" in out, out


def errors_name_the_object_and_the_next_step(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        flights = harness.Table("flights").id
        for args, code, words in (
                (["show", "/no/such/table"], 1, ["/no/such/table", "next:"]),
                (["show", "nowhere.db.t"], 1, ["nowhere.db.t", "oracle", "ot"]),
                (["show", "oracle.jd.no_such_table"], 1, ["no_such_table"]),
                (["inspect", flights, "fils"], 1, ["fils", "files"]),
                (["scan", flights, "--filter", "carier = 'UA'"], 2, ["carier", "carrier"]),
                (["scan", flights, "--snapshot", "7"], 1, ["7"]),
                (["scan", flights, "--branch", "nope"], 1, ["nope", "main"]),
                (["rewrite-data-files", flights, "--target-file-size-bytes", "0"], 2, ["target-file-size-bytes", "> 0"]),
                (["rewrite-data-files", flights, "--branch", "nope"], 1, ["nope"])):
            got, _, err = text(program, *args)
            assert got == code, (args, got, err)
            for word in words:
                assert word in err, (args, word, err)
            _, report = program.run(*args, check=False)
            error = report["error"]
            assert set(error) == {"code", "message", "next"}, report


def a_catalogs_folder_is_read_only_by_path(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        path = str(harness.FIXTURES / "jd/jdbc_v2")
        code, out, _ = text(program, "scan", path, "--digest")
        assert code == 0 and harness.expected("jdbc_v2")["rows"]["digest"] in out, out
        code, report = program.run("rewrite-data-files", path, "--rewrite-all", check=False)
        assert code == 9 and "register" in report["error"]["message"], report


def tables_are_made_registered_listed_and_dropped(folder):
    config = {"c": {"type": "jdbc", "uri": f"jdbc:sqlite:file:{folder}/c.db", "warehouse": f"file:{folder}/wh"}}
    program = harness.Program(folder, config)
    program.run("create", "c.db.t", "--schema", "id:long!,price:decimal(9,2),ts:timestamptz", "--partition",
                "bucket(4, id), days(ts)", "--sort", "id desc", "--identifier", "id", "--property", "a=b", "--format-version", "3")
    _, shown = program.run("show", "c.db.t")
    assert shown["format_version"] == 3 and shown["partition_spec"] == "bucket(4, id), day(ts)", shown
    assert shown["sort_order"] == "id desc nulls last" and shown["properties"]["a"] == "b", shown
    assert program.run("create", "c.db.t", "--schema", "id:long", check=False)[0] == 1
    _, listed = program.run("tables")
    assert listed == [{"catalog": "c", "namespace": "db", "table": "t"}], listed
    program.run("register", "c.db.again", shown["metadata_location"])
    assert [row["table"] for row in program.run("tables", "db")[1]] == ["again", "t"]
    program.run("drop", "c.db.t")
    program.run("drop", "c.db.again")
    assert program.run("tables")[1] == []
    assert program.run("show", "c.db.t", check=False)[0] == 1


def rows_come_as_text_csv_and_json(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        flights = harness.Table("flights").id
        query = ["scan", flights, "--filter", "month = 3 and carrier in ('UA','AA')", "--columns", "carrier,month", "--limit", "3"]
        code, out, _ = text(program, *query, "--format", "csv")
        lines = out.splitlines()
        assert code == 0 and lines[0] == "carrier,month" and len(lines) == 4, out
        assert all(line in ("UA,3", "AA,3") for line in lines[1:]), out
        code, out, _ = text(program, *query, "--format", "json")
        rows = [json.loads(line) for line in out.splitlines()]
        assert len(rows) == 3 and all(set(row) == {"carrier", "month"} and row["month"] == 3 for row in rows), out
        code, out, _ = text(program, *query)
        assert code == 0 and out.splitlines()[0].split() == ["carrier", "month"], out
        _, all_rows, _ = text(program, "scan", flights, "--filter", "month = 3", "--columns", "month", "--format", "csv")
        want = sum(1 for line in text(program, "scan", flights, "--columns", "month", "--format", "csv")[1].splitlines() if line == "3")
        assert len(all_rows.splitlines()) - 1 == want > 0, want


def time_travel_reads_old_snapshots(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        table = harness.Table("append_v2").id
        _, snapshots = program.run("inspect", table, "snapshots")
        first = snapshots[0]["snapshot_id"]
        rows = int(harness.expected("append_v2")["snapshots"][0]["summary"]["total-records"])
        assert program.run("scan", table, "--digest", "--snapshot", str(first))[1]["rows"] == rows
        at = harness.expected("append_v2")["snapshots"][0]["timestamp_ms"]
        assert program.run("scan", table, "--digest", "--as-of", str(at))[1]["rows"] == rows
        assert program.run("scan", table, "--digest", "--as-of", str(at - 1), check=False)[0] == 1
        refs = harness.Table("refs_v2").id
        audit = harness.expected("refs_v2", "audit")["rows"]
        assert program.run("scan", refs, "--digest", "--branch", "audit")[1]["digest"] == audit["digest"]


def health_names_figures_thresholds_and_repairs(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        flights = harness.Table("flights").id
        _, checks = program.run("health", flights)
        by_name = {check["check"]: check for check in checks}
        assert list(by_name) == ["average-file-size-bytes", "files-in-a-partition", "equality-delete-files-in-a-partition",
                                 "snapshots-per-hour", "active-storage-ratio", "manifests", "metadata-size-bytes"], checks
        small = by_name["average-file-size-bytes"]
        assert small["finding"] and small["threshold"] == 32 << 20 and int(small["value"]) == 2824782 // 268, small
        assert small["repair"] == f"icewright rewrite-data-files {flights}", small
        program.run("rewrite-data-files", flights, "--rewrite-all")
        _, checks = program.run("health", flights)
        by_name = {check["check"]: check for check in checks}
        ratio = by_name["active-storage-ratio"]
        assert ratio["finding"] and 0.2 < ratio["value"] < 0.5, ratio
        assert ratio["repair"] == f"icewright expire-snapshots {flights}", ratio


harness.main(usage_errors_exit_with_2, errors_name_the_object_and_the_next_step, a_catalogs_folder_is_read_only_by_path,
             tables_are_made_registered_listed_and_dropped, rows_come_as_text_csv_and_json, time_travel_reads_old_snapshots,
             health_names_figures_thresholds_and_repairs)
