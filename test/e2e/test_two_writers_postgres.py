"""Two compactions and a Flink job on one PostgreSQL catalog: no row is lost, none comes twice."""

import contextlib
import os
import socket
import subprocess

import harness
import race
from harness import rows_of


@contextlib.contextmanager
def postgres(folder):
    """A server of its own; yields its JDBC URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.chmod(folder, 0o755)  # the server may run as a user of its own
    script = str(harness.ROOT / "tools/services/postgres.sh")
    subprocess.run([script, "start", f"{folder}/postgres", str(port)], check=True, stdout=subprocess.DEVNULL)
    try:
        yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=postgres"
    finally:
        subprocess.run([script, "stop", f"{folder}/postgres"], check=True)


def two_compactions_beside_flink_on_postgres(folder):
    with postgres(folder) as url:
        warehouse = f"file:{folder}/warehouse"
        program = harness.Program(folder, {"pg": {"type": "jdbc", "uri": url, "warehouse": warehouse}})
        race.create(program, *((f"pg.w.{name}", "--identifier", "id") for name in ("t", "twin")))
        at = f"--catalog jdbc --uri {url} --catalog-name pg"
        upserts = "--rows 800 --checkpoints 20 --seed 12 --mode upsert --keys id --update-ratio 0.5 --delete-ratio 0.05"
        java = harness.Java.shared()
        java.call(f"write {warehouse} w.twin {upserts} {at}")
        compactors = [race.Compactor(program, "pg.w.t", seed) for seed in (1, 2)]
        try:
            for compactor in compactors:
                compactor.start()
            java.call(f"write {warehouse} w.t {upserts} {at}")
        finally:
            for compactor in compactors:
                compactor.stop()
        for compactor in compactors:
            compactor.finish(at_least=3)
        got, want = (rows_of(java.call(f"dump {warehouse} w.{name} {at}")) for name in ("t", "twin"))
        assert got == want, f"Java reads {got}, expected {want}"
        _, digest = program.run("scan", "pg.w.t", "--digest")
        assert {"count": digest["rows"], "digest": digest["digest"]} == want, digest
        problems = java.call(f"check {warehouse} w.t {at} --soft")["problems"]
        assert problems == [], problems
        print(f"  icewright {[compactor.snapshots for compactor in compactors]} commits, "
              f"exit codes {[compactor.codes for compactor in compactors]}")


harness.main(two_compactions_beside_flink_on_postgres)
