"""Statistics of tables and partitions: real Java Iceberg reads what we write, and we go on from what Java wrote."""

import json

import harness

COUNTS = ["data_record_count", "data_file_count", "total_data_file_size_in_bytes", "position_delete_record_count",
          "position_delete_file_count", "equality_delete_record_count", "equality_delete_file_count", "dv_count"]


def writable():
    """Fixtures that the program may commit to, by name."""
    return [harness.Table(name) for name in harness.fixture_names()]


def column_names(metadata):
    schema = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    return {field["id"]: field["name"] for field in schema["fields"]}


def java_reads_the_sketches_of_every_table(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong, seen = [], 0
        for table in writable():
            code, report = program.run("compute-table-stats", table.id, check=False)
            if code != 0:
                # What cannot be read is refused by name.
                if report["error"]["code"] != "unsupported":
                    wrong.append(f"{table.name}: {report['error']}")
                continue
            if report["outcome"] == "nothing-to-do":
                continue
            metadata = table.metadata()
            names = column_names(metadata)
            files = {f["snapshot_id"]: f for f in java.call(f"statistics {table.oracle_args}")["files"]}
            blobs = files[metadata["current-snapshot-id"]]["blobs"]
            ndvs = {names[b["fields"][0]]: b["estimate"] for b in blobs}
            want = {item["name"]: item["ndv"] for item in report["items"]}
            if ndvs != want:
                wrong.append(f"{table.name}: Java reads {ndvs}, reported {want}")
            if any(str(b["estimate"]) != b["properties"]["ndv"] for b in blobs):
                wrong.append(f"{table.name}: {blobs}")
            if new := harness.new_problems(table.name, java.call(f"check {table.oracle_args} --soft")):
                wrong.append(f"{table.name}: Java finds {new}")
            seen += 1
        assert seen >= 35, seen
        assert not wrong, "\n".join(wrong)


def rows_by_partition(rows, times=True):
    """Java's rows, comparable; empty partitions left out, whose stay nobody promises."""
    keys = COUNTS + (["last_updated_at", "last_updated_snapshot_id"] if times else [])
    return {(row["spec_id"], *row["partition"]): [row[key] for key in keys]
            for row in rows if any(row[key] for key in COUNTS)}


def java_and_inspect_agree_on_partitions(folder):
    """Java computes from the same manifests; `inspect partitions` counts live files."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        wrong, seen = [], 0
        for table in writable():
            _, report = program.run("compute-partition-stats", table.id, "--full")
            if report["outcome"] == "nothing-to-do":
                continue
            ours = java.call(f"partition-statistics {table.oracle_args}")
            theirs = java.call(f"partition-statistics {table.oracle_args} --compute")
            if ours["schema"] != theirs["schema"] or ours["rows"] != theirs["rows"]:
                mine, javas = ({json.dumps(row) for row in r["rows"]} for r in (ours, theirs))
                if mine != javas:
                    wrong.append(f"{table.name}: ours {sorted(mine - javas)[:3]}, Java's {sorted(javas - mine)[:3]}")
                elif [r["partition"] for r in ours["rows"]] != [r["partition"] for r in theirs["rows"]]:
                    wrong.append(f"{table.name}: another order")
            if ours["size"] <= 0:
                wrong.append(f"{table.name}: size {ours['size']}")
            _, partitions = program.run("inspect", table.id, "partitions")
            live = sorted((p["spec_id"], p["record_count"], p["file_count"], p["position_delete_record_count"],
                           p["equality_delete_file_count"]) for p in partitions)
            file = sorted((r["spec_id"], r["data_record_count"], r["data_file_count"],
                           r["position_delete_record_count"], r["equality_delete_file_count"])
                          for r in ours["rows"] if any(r[key] for key in COUNTS))
            if live != file:
                wrong.append(f"{table.name}: inspect {live}, file {file}")
            if new := harness.new_problems(table.name, java.call(f"check {table.oracle_args} --soft")):
                wrong.append(f"{table.name}: Java finds {new}")
            seen += 1
        assert seen >= 20, seen
        assert not wrong, "\n".join(wrong)


def each_goes_on_from_the_others_file(folder):
    """Increments on top of a file of the other engine."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        for name in ("changelog_v2", "upsert_part_v3", "plain_v1"):
            table = harness.Table(name)
            java.call(f"partition-statistics {table.oracle_args} --set")
            _, same = program.run("compute-partition-stats", table.id)
            assert same["outcome"] == "nothing-to-do", same
            program.run("rewrite-data-files", table.id, "--rewrite-all")
            _, report = program.run("compute-partition-stats", table.id)
            assert any("computed from the statistics" in note for note in report["notes"]), report
            ours = java.call(f"partition-statistics {table.oracle_args}")
            _, full = program.run("compute-partition-stats", table.id, "--full")
            assert not full["notes"], full
            again = java.call(f"partition-statistics {table.oracle_args}")
            assert rows_by_partition(ours["rows"], False) == rows_by_partition(again["rows"], False), name
            # Java's increment from our file: compute for a later snapshot.
            program.run("rewrite-data-files", table.id, "--rewrite-all")
            theirs = java.call(f"partition-statistics {table.oracle_args} --compute")
            program.run("compute-partition-stats", table.id)
            ours = java.call(f"partition-statistics {table.oracle_args}")
            assert rows_by_partition(ours["rows"]) == rows_by_partition(theirs["rows"]), name


def expiry_takes_the_statistics_of_expired_snapshots(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        java = harness.Java.shared()
        table = harness.Table("changelog_v2")
        snapshots = [s["snapshot-id"] for s in table.metadata()["snapshots"]]
        for snapshot in (snapshots[0], snapshots[-1]):
            program.run("compute-table-stats", table.id, "--snapshot-id", str(snapshot))
            program.run("compute-partition-stats", table.id, "--snapshot-id", str(snapshot))
        assert len([f for f in table.listing() if f.endswith(".stats")]) == 2
        program.run("expire-snapshots", table.id, "--max-snapshot-age", "0s", "--retain-last", "1", "--no-flink-guard")
        metadata = table.metadata()
        assert [s["snapshot-id"] for s in metadata["statistics"]] == [snapshots[-1]], metadata["statistics"]
        assert [s["snapshot-id"] for s in metadata["partition-statistics"]] == [snapshots[-1]]
        left = sorted(f for f in table.listing() if f.endswith(".stats") or "partition-stats-" in f)
        assert len(left) == 2 and all(str(snapshots[-1]) in f for f in left), left
        assert len(java.call(f"statistics {table.oracle_args}")["files"]) == 1
        assert java.call(f"partition-statistics {table.oracle_args}")["rows"]


harness.main(java_reads_the_sketches_of_every_table, java_and_inspect_agree_on_partitions,
             each_goes_on_from_the_others_file, expiry_takes_the_statistics_of_expired_snapshots)
