"""Splicing: the fixtures compacted by moving pages, read by real Java Iceberg, PyIceberg and pyarrow."""

import json

import harness
from harness import rows_of

TREATMENTS = {"verbatim", "null", "constant", "promote", "join", "transcode", "remap", "materialise", "convert",
              "filter", "decode"}
NO_ROWS = {"empty_v2"}
# What Java 1.11 fails on before anything is done to it.
JAVA_CANNOT_READ = {"geo_v3", "ot_odd_brotli_v2", "ot_odd_parquet_v2", "ot_spark_legacylists_v2"}
VARIANT = {"variant_v3", "ot_spark_variant_v3"}  # no engine rewrites them
# PyIceberg reads a null list or map of structs as an empty one, before and after.
READS_OTHERWISE = {"ot_spark_types_v2"}


def judge(table):
    java = harness.Java.shared()
    dump = java.call(f"dump {table.oracle_args}")
    want = rows_of(harness.expected(table.name))
    assert rows_of(dump) == want, f"{table.name}: Java reads {rows_of(dump)}, expected {want}"
    problems = harness.new_problems(table.name, java.call(f"check {table.oracle_args} --soft"))
    assert problems == [], f"{table.name}: {problems}"
    return dump


def java_and_pyiceberg_read_every_spliced_fixture(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        names = [name for name in harness.fixture_names() if name not in NO_ROWS | VARIANT]
        tables = {name: harness.Table(name) for name in names}
        for name, table in tables.items():
            _, report = program.run("rewrite-data-files", table.id, "--engine", "splice", "--rewrite-all", "--verify")
            assert report["outcome"] == "done", (name, report)
            treated = {key: value for key, value in report["counts"].items() if key.split("-")[0] in TREATMENTS}
            assert sum(treated.values()) > 0, (name, report["counts"])
            if name not in JAVA_CANNOT_READ:
                judge(table)
        request = {name: {"metadata": f"file:{table.metadata_file()}"} for name, table in tables.items()}
        read = harness.peer("peer_digest.py", {"tables": request})
        wrong, sound = [], 0
        for name, got in read.items():
            rows = harness.expected(name)["rows"]
            if "error" in got or name in READS_OTHERWISE:
                continue  # test_pyiceberg.py lists what PyIceberg cannot read, whoever wrote it
            sound += 1
            if got != {"count": rows["count"], "digest": rows["digest"]}:
                wrong.append(f"{name}: {got}, expected {rows}")
        assert not wrong, "\n".join(wrong)
        assert sound >= 30, sound


def duckdb_reads_what_it_read_before(folder):
    """Tables without deletes and evolution: their files alone are their rows."""
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        tables = {name: harness.Table(name) for name in ("flights", "append_v2")}

        def read():
            java = harness.Java.shared()
            files = {name: [str(table.path / file["path"]) for file in java.call(f"dump {table.oracle_args}")["data_files"]]
                     for name, table in tables.items()}
            return harness.peer("peer_duckdb.py", files), {name: len(paths) for name, paths in files.items()}

        before, many = read()
        for table in tables.values():
            program.run("rewrite-data-files", table.id, "--engine", "splice", "--rewrite-all")
        after, few = read()
        assert all("error" not in got for got in before.values()), before
        assert after == before, (after, before)
        assert all(few[name] < many[name] for name in tables), (few, many)


def a_second_splice_reads_its_own_files(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("flights")
        for _ in range(2):
            _, report = program.run("rewrite-data-files", table.id, "--engine", "splice", "--rewrite-all", "--verify")
            assert report["outcome"] == "done", report
        judge(table)


def the_dry_run_says_how_and_why(folder):
    with harness.fixtures():
        program = harness.Program(folder, harness.catalogs())
        table = harness.Table("flights")
        before, pointer = table.listing(), table.metadata_file()
        _, plan = program.run("rewrite-data-files", table.id, "--engine", "splice", "--dry-run")
        assert plan["outcome"] == "planned", plan
        assert table.listing() == before and table.metadata_file() == pointer
        assert any(key.split("-")[0] in TREATMENTS for key in plan["counts"]), plan["counts"]
        assert plan["notes"], plan


def auto_and_decode_agree(folder):
    rows = {}
    for engine in ("auto", "decode"):
        with harness.fixtures():
            program = harness.Program(folder, harness.catalogs())
            table = harness.Table("flights")
            _, report = program.run("rewrite-data-files", table.id, "--engine", engine, "--rewrite-all")
            assert report["outcome"] == "done", report
            _, digest = program.run("scan", table.id, "--digest")
            files = len(judge(table)["data_files"])
            rows[engine] = (json.dumps(digest, sort_keys=True), files)
    assert rows["auto"] == rows["decode"], rows


harness.main(java_and_pyiceberg_read_every_spliced_fixture, duckdb_reads_what_it_read_before,
             a_second_splice_reads_its_own_files, the_dry_run_says_how_and_why, auto_and_decode_agree)
