"""PyIceberg reads every fixture after its compaction, and a digest of its own agrees."""

import harness

EMPTY = {"empty_v2"}

# What PyIceberg 0.12 says to tables that it cannot read, whoever wrote them.
NO_EQUALITY_DELETES = "ValueError: PyIceberg does not yet support equality deletes"
NO_VARIANT = "Unsupported field type: 'variant'"
NO_GEOMETRY = "ValidationError: Could not parse geometry(OGC:CRS84) into a GeometryType"
UNREADABLE = {"geo_v3": NO_GEOMETRY, "variant_v3": NO_VARIANT, "ot_spark_variant_v3": NO_VARIANT}
# Compaction keeps equality deletes as old as its new files: they apply to no row, but PyIceberg stops at them.
KEEPS_EQUALITY_DELETES = {"avro_v2", "changelog_v2", "orc_v2", "posdel_v2", "upsert_part_v3", "upsert_v2", "upsert_v3"}
UNREADABLE_DATA_FILES = {"avro_v2": "ValueError: Unsupported file format: FileFormat.AVRO"}
# PyIceberg reads a null list or map of structs as an empty one, before and after.
READS_OTHERWISE = {"ot_spark_types_v2"}


def read(tables, **how):
    request = {name: {"metadata": f"file:{table.metadata_file()}", **how} for name, table in tables.items()}
    return harness.peer("peer_digest.py", {"tables": request})


def compacted_fixtures_read_the_same_in_pyiceberg(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        tables = {name: harness.Table(name) for name in harness.fixture_names() if name not in EMPTY}
        own = read({name: tables[name] for name in READS_OTHERWISE})
        for name, table in tables.items():
            code, report = program.run("rewrite-data-files", table.id, "--rewrite-all", check=False)
            refused = UNREADABLE.get(name) == NO_VARIANT
            assert code == (9 if refused else 0), f"{name}: exit {code}: {report}"
        wrong = []
        for name, got in read(tables).items():
            rows = harness.expected(name)["rows"]
            want = own.get(name) or {"count": rows["count"], "digest": rows["digest"]}
            message = NO_EQUALITY_DELETES if name in KEEPS_EQUALITY_DELETES else UNREADABLE.get(name)
            if got != want if message is None else message not in got.get("error", ""):
                wrong.append(f"{name}: {got}, expected {message or want}")
        for name, got in read({name: tables[name] for name in KEEPS_EQUALITY_DELETES}, data_files_only=True).items():
            rows = harness.expected(name)["rows"]
            message = UNREADABLE_DATA_FILES.get(name)
            want = {"error": message} if message else {"count": rows["count"], "digest": rows["digest"]}
            if got != want:
                wrong.append(f"{name}: {got} in the data files alone, expected {want}")
        assert not wrong, "\n".join(wrong)
        assert len(tables) == 46, len(tables)


def branches_read_the_same_in_pyiceberg(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        table = harness.Table("refs_v2")
        program.run("rewrite-data-files", table.id, "--rewrite-all", "--branch", "audit")
        want = harness.expected("refs_v2", "audit")["rows"]
        got = read({"refs_v2": table}, ref="audit")["refs_v2"]
        assert got == {"count": want["count"], "digest": want["digest"]}, (got, want)


def pyiceberg_goes_on_writing_after_a_compaction(folder):
    with harness.fixtures():
        config = harness.catalogs()
        program = harness.Program(folder, config)
        table = harness.Table("ot_py_append_v2")
        assert table.in_sql_catalog
        before = harness.expected(table.name)["rows"]["count"]
        for step in range(3):  # each compacts what the other appended
            program.run("rewrite-data-files", table.id, "--rewrite-all")
            rows = harness.peer("peer_append.py", {"uri": f"sqlite:///{table.database}", "catalog": "ot",
                                                   "table": f"ot.{table.path.name}"})
            assert rows["after"] == 2 * rows["before"], rows
            assert rows["before"] == before * 2**step, rows
        _, report = program.run("rewrite-data-files", table.id, "--rewrite-all")
        assert report["counts"]["rows-written"] == before * 8, report


harness.main(compacted_fixtures_read_the_same_in_pyiceberg, branches_read_the_same_in_pyiceberg,
             pyiceberg_goes_on_writing_after_a_compaction)
