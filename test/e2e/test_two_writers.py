"""Compaction beside PyIceberg and a Flink job that write to the same tables: no row is lost, none comes twice."""

import pathlib

import harness
import race
from harness import rows_of


def writers_and_compaction_share_a_sql_catalog(folder):
    database, warehouse = f"{folder}/catalog.db", f"file:{folder}/warehouse"
    program = harness.Program(folder, {"race": {"type": "jdbc", "uri": f"jdbc:sqlite:{database}", "warehouse": warehouse}})
    race.create(program, ("race.w.plain", "--partition", "cat"), ("race.w.plain_twin", "--partition", "cat"),
                ("race.w.upserts", "--identifier", "id"), ("race.w.upserts_twin", "--identifier", "id"))
    at = f"--catalog jdbc --uri jdbc:sqlite:{database} --catalog-name race"
    appends = "--rows 500 --checkpoints 10 --seed 11"
    upserts = "--rows 800 --checkpoints 10 --seed 12 --mode upsert --keys id --update-ratio 0.5 --delete-ratio 0.05"

    java = harness.Java.shared()
    for table, options in (("plain_twin", appends), ("upserts_twin", upserts)):  # also warms the JVM up
        java.call(f"write {warehouse} w.{table} {options} {at}")
    peer = {"uri": f"sqlite:///{database}", "catalog": "race", "warehouse": warehouse}
    writers = {
        "plain": race.Writer(folder, "plain", table="w.plain", seed=1, first_id=10**9,
                             actions=["append", "append", "delete", "overwrite"], **peer),
        # PyIceberg cannot scan a table with equality deletes: there it only appends.
        "upserts": race.Writer(folder, "upserts", table="w.upserts", seed=2, first_id=10**9, actions=["append"], **peer),
    }
    compactors = [race.Compactor(program, f"race.w.{name}", seed) for seed, name in enumerate(writers)]
    try:
        for compactor in compactors:
            compactor.start()
        java.call(f"write {warehouse} w.plain {appends} {at}")
        java.call(f"write {warehouse} w.upserts {upserts} {at}")
        models = {name: writer.finish() for name, writer in writers.items()}
    finally:
        for worker in (*compactors, *writers.values()):
            worker.stop()
    for compactor in compactors:
        compactor.finish()
    dumps = {name: rows_of(java.call(f"dump {warehouse} w.{name} {at}"))
             for name in ("plain", "plain_twin", "upserts", "upserts_twin")}
    for name, model in models.items():
        print(f"  {name}: PyIceberg {model['commits']} commits, {model['conflicts']} conflicts, icewright "
              f"{[c.snapshots for c in compactors if c.table.endswith(name)][0]} commits")
        want = race.sum_of(race.row_digest(model["rows"]), dumps[f"{name}_twin"])
        assert dumps[name] == want, f"{name}: Java reads {dumps[name]}, expected {want}"
        _, digest = program.run("scan", f"race.w.{name}", "--digest")
        assert {"count": digest["rows"], "digest": digest["digest"]} == want, f"{name}: icewright reads {digest}"
        problems = java.call(f"check {warehouse} w.{name} {at} --soft")["problems"]
        assert problems == [], problems


def two_compactions_and_java_take_turns_on_a_folder(folder):
    warehouse = f"file:{folder}/warehouse"
    program = harness.Program(folder, {"fs": {"type": "hadoop", "warehouse": warehouse}})
    race.create(program, ("fs.w.t", "--partition", "cat"))
    rounds = 5
    java = harness.Java.shared()
    outcomes = []
    for number in range(rounds):
        java.call(f"write {warehouse} w.t --rows 100 --checkpoints 4 --seed 5 "
                  f"--start-id {number * 100} --start-version {number * 100}")
        before = rows_of(java.call(f"dump {warehouse} w.t"))
        compactors = [race.Once(program, "fs.w.t", options) for options in (["--rewrite-all"], ["--min-input-files", "2"])]
        for compactor in compactors:
            compactor.start()
        for compactor in compactors:
            compactor.join()
            outcomes.append(compactor.code)
        after = rows_of(java.call(f"dump {warehouse} w.t"))
        assert before == after and before["count"] == (number + 1) * 100, (number, before, after)
    assert set(outcomes) <= race.ALLOWED and 0 in outcomes, outcomes
    problems = java.call(f"check {warehouse} w.t --soft")["problems"]
    assert problems == [], problems
    versions = sorted(int(path.name[1:].split(".")[0]) for path in
                      (pathlib.Path(folder) / "warehouse/w/t/metadata").glob("v*.metadata.json"))
    assert versions == list(range(1, len(versions) + 1)), versions
    print(f"  exit codes {outcomes}, {len(versions)} versions")


harness.main(writers_and_compaction_share_a_sql_catalog, two_compactions_and_java_take_turns_on_a_folder)
