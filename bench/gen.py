#!/usr/bin/env python3
"""Deterministic generator of Iceberg tables for maintenance benchmarks.

Parquet is written here with pyarrow (field ids in the files, Iceberg-Java-like settings); metadata
is committed by src/Gen.java through the real Iceberg Java library into a HadoopCatalog folder.

  gen.py small-files  NAME --files 100 --rows 10000 [--codec zstd|snappy]
  gen.py eq-deletes   NAME --base-files 20 --base-rows 100000 --commits 50 --upserts 10000 [--format-version 3]
  gen.py pos-deletes  NAME --base-files 20 --base-rows 100000 --delete-files 100 --deletes 2000
  gen.py many-entries NAME --entries 100000 --per-manifest 1000
  gen.py many-snapshots NAME --snapshots 2000
  gen.py orphans      NAME --live 20000 --orphan 20000
  gen.py key-upserts  NAME --base-files 100 --base-rows 500000 --commits 1000 --upserts 1000 [--staged]
  gen.py wide         NAME --files 8 --rows 20000 --columns 500
  gen.py many-groups  NAME --files 8 --rows 200000 --row-groups 200
  gen.py java-files   NAME --files 100 --rows 10000 [--codec zstd|snappy]   rows of small-files, written by Iceberg Java
  gen.py encoded      NAME --files 8 --rows 500000 --encoding plain|delta   no dictionaries
  gen.py disjoint     NAME --files 60 --rows 20000                          dictionaries of 5,000 that share nothing

The table is left in PRISTINE/NAME with metadata that points at WH/ns/NAME; run.py copies it there.
"""
import argparse, glob, os, shutil, subprocess, sys, time
import numpy as np, pyarrow as pa, pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BENCH = os.environ.get("BENCH", f"{ROOT}/build/bench")
WH, PRISTINE = f"{BENCH}/wh", f"{BENCH}/pristine"

FIELDS = [  # (id, name, arrow type); Gen.java declares the same Iceberg schema
    (1, "id", pa.int64()), (2, "user_id", pa.int64()), (3, "ts", pa.timestamp("us", tz="UTC")),
    (4, "day", pa.date32()), (5, "country", pa.string()), (6, "event", pa.string()),
    (7, "session", pa.string()), (8, "url", pa.string()), (9, "amount", pa.float64()),
    (10, "score", pa.float64()), (11, "price", pa.decimal128(12, 2)), (12, "qty", pa.int32()),
]
def fld(i, n, t, nullable=True):
    return pa.field(n, t, nullable=nullable, metadata={"PARQUET:field_id": str(i)})
SCHEMA = pa.schema([fld(*f, nullable=f[0] != 1) for f in FIELDS])
KEY_SCHEMA = pa.schema([fld(1, "id", pa.int64(), False)])
NARROW_SCHEMA = pa.schema([fld(1, "id", pa.int64(), False), fld(12, "qty", pa.int32())])
POS_SCHEMA = pa.schema([fld(2147483546, "file_path", pa.string(), False), fld(2147483545, "pos", pa.int64(), False)])

COUNTRIES = pa.array([a + b for a in "ABCDEFGHJK" for b in "RSTUV"])
EVENTS = pa.array("view click buy cart search login logout refund share rate".split())
_r = np.random.default_rng(7)
URLS = pa.array([f"https://shop.example/{_r.integers(1, 900)}/item-{_r.integers(0, 1 << 40):x}?ref={_r.integers(0, 99)}"
                 for _ in range(20000)])

def batch(seed, n, ids):
    """n rows; everything but ids depends on seed only."""
    r = np.random.default_rng(seed)
    ts = 1_700_000_000_000_000 + seed % 1000 * 600_000_000 + np.sort(r.integers(0, 3_600_000_000, n))
    hexs = r.bytes(n * 12).hex().encode()
    sess = pa.Array.from_buffers(pa.string(), n, [None, pa.py_buffer(np.arange(0, 24 * n + 1, 24, dtype=np.int32)), pa.py_buffer(hexs)])
    cents = r.integers(1, 10_000_00, n)
    dec = np.zeros((n, 2), dtype=np.int64); dec[:, 0] = cents
    price = pa.Array.from_buffers(pa.decimal128(12, 2), n, [None, pa.py_buffer(dec)])
    score = pa.array(r.normal(0, 1, n), mask=r.random(n) < 0.05)
    cols = [pa.array(ids), pa.array((r.zipf(1.3, n) % 1_000_003).astype(np.int64)), pa.array(ts).cast(FIELDS[2][2]),
            pa.array((ts // 86_400_000_000).astype(np.int32)).cast(pa.date32()),
            COUNTRIES.take(pa.array(r.zipf(1.5, n) % 50)), EVENTS.take(pa.array(r.integers(0, 10, n))), sess,
            URLS.take(pa.array(r.zipf(1.2, n) % 20000)), pa.array(np.round(r.gamma(2, 30, n), 2)), score, price,
            pa.array(r.integers(1, 20, n).astype(np.int32))]
    return pa.Table.from_arrays(cols, schema=SCHEMA)

def write(table, path, codec="zstd"):
    pq.write_table(table, path, compression=codec, compression_level=3 if codec == "zstd" else None, store_schema=False,
                   store_decimal_as_integer=True, data_page_version="1.0", data_page_size=1 << 20,
                   dictionary_pagesize_limit=2 << 20, coerce_timestamps="us", write_page_index=False, use_compliant_nested_type=True)

def java(*args):
    """Commits through the real Iceberg library of the Java referee."""
    jars, out = f"{ROOT}/.cache/oracle/dist/lib/*", f"{BENCH}/java"
    os.makedirs(out, exist_ok=True)
    if not os.path.exists(f"{out}/Gen.class") or os.path.getmtime(f"{out}/Gen.class") < os.path.getmtime(f"{HERE}/Gen.java"):
        subprocess.check_call(["javac", "-cp", jars, "-d", out, f"{HERE}/Gen.java"])
    subprocess.check_call(["java", "-Xmx4g", "-cp", f"{out}:{jars}", "Gen", *map(str, args)], stderr=open(f"{out}/gen.log", "a"))

def write_keys(ids, path, deletes=False):
    table = pa.Table.from_arrays([pa.array(ids)] + ([] if deletes else [pa.array((ids % 19 + 1).astype(np.int32))]),
                                 schema=KEY_SCHEMA if deletes else NARROW_SCHEMA)
    write(table, path)

def write_wide(loc, files, rows, columns, seed0):
    """Many columns: half long, a quarter double, a quarter string. Field ids from 1."""
    kinds = [pa.int64() if c % 4 < 2 else pa.float64() if c % 4 == 2 else pa.string() for c in range(columns)]
    schema = pa.schema([fld(c + 1, f"c{c}", kinds[c]) for c in range(columns)])
    for i in range(files):
        r = np.random.default_rng(seed0 + i)
        cols = [pa.array(r.integers(0, 1 << 40, rows)) if k == pa.int64() else pa.array(r.normal(0, 1, rows)) if k == pa.float64()
                else URLS.take(pa.array(r.integers(0, 20000, rows))) for k in kinds]
        write(pa.Table.from_arrays(cols, schema=schema), f"{loc}/data/{i:05d}-0-wide.parquet")

def write_columns(loc, kind, files, rows, codec, seed0):
    """Two longs, a double and a string: without dictionaries, or with ones that have no value in common."""
    kinds = [pa.int64(), pa.int64(), pa.float64(), pa.string()]
    schema = pa.schema([fld(c + 1, f"c{c}", kinds[c]) for c in range(4)])
    options = {"plain": dict(use_dictionary=False), "disjoint": dict(use_dictionary=True, dictionary_pagesize_limit=2 << 20),
               "delta": dict(use_dictionary=False, column_encoding={"c0": "DELTA_BINARY_PACKED", "c1": "DELTA_BINARY_PACKED", "c2": "BYTE_STREAM_SPLIT",
                                                                    "c3": "DELTA_BYTE_ARRAY"})}[kind]
    for i in range(files):
        r = np.random.default_rng(seed0 + i)
        n = 5000 if kind == "disjoint" else rows
        cols = [r.integers(0, 1 << 60, n), np.sort(r.integers(0, 1 << 50, n)), r.normal(0, 1, n),
                pa.array([f"session-{x:016x}-{x % 97:02d}" for x in r.integers(0, 1 << 62, n)])]
        if kind == "disjoint":
            cols = [pa.array(c).take(pa.array(r.integers(0, n, rows))) for c in cols]
        pq.write_table(pa.Table.from_arrays([pa.array(c) for c in cols], schema=schema), f"{loc}/data/{i:05d}-0-{kind}.parquet", compression=codec,
                       store_schema=False, **options)

def main():
    p = argparse.ArgumentParser(); p.add_argument("kind"); p.add_argument("name")
    for k, d in dict(files=100, rows=10000, base_files=20, base_rows=100000, commits=50, upserts=10000, delete_files=100,
                     deletes=2000, entries=100000, per_manifest=1000, snapshots=2000, columns=500, row_groups=200, live=20000, orphan=20000, seed=1, format_version=2).items():
        p.add_argument("--" + k.replace("_", "-"), type=int, default=d)
    p.add_argument("--codec", default="zstd"); p.add_argument("--encoding", default="plain"); p.add_argument("--clustered", action="store_true"); p.add_argument("--java", action="store_true"); p.add_argument("--staged", action="store_true")
    a = p.parse_args()
    t0 = time.time()
    loc = f"{WH}/ns/{a.name}"; shutil.rmtree(loc, ignore_errors=True); os.makedirs(f"{loc}/data")
    seed0 = a.seed * 1_000_003
    if a.kind in ("small-files", "java-files"):
        for i in range(a.files):
            r = np.random.default_rng(seed0 - i)
            write(batch(seed0 + i, a.rows, np.arange(i * a.rows, (i + 1) * a.rows)), f"{loc}/data/{i:05d}-0-small.parquet", a.codec)
        java("append" if a.kind == "small-files" else "rewrite-append", WH, a.name, a.codec, 2)
    elif a.kind in ("encoded", "disjoint"):
        write_columns(loc, a.encoding if a.kind == "encoded" else a.kind, a.files, a.rows, a.codec, seed0)
        java("wide", WH, a.name, a.codec, 2, 4)
    elif a.kind == "wide":
        write_wide(loc, a.files, a.rows, a.columns, seed0)
        java("wide", WH, a.name, a.codec, 2, a.columns)
    elif a.kind == "many-groups":
        for i in range(a.files):
            pq.write_table(batch(seed0 + i, a.rows, np.arange(i * a.rows, (i + 1) * a.rows)), f"{loc}/data/{i:05d}-0-groups.parquet",
                           compression="zstd", store_schema=False, store_decimal_as_integer=True, row_group_size=a.rows // a.row_groups)
        java("append", WH, a.name, a.codec, 2)
    elif a.kind in ("eq-deletes", "pos-deletes"):
        for i in range(a.base_files):
            write(batch(seed0 + i, a.base_rows, np.arange(i * a.base_rows, (i + 1) * a.base_rows)), f"{loc}/data/{i:05d}-base.parquet", a.codec)
        r = np.random.default_rng(seed0 - 1); total = a.base_files * a.base_rows
        if a.kind == "eq-deletes":  # like a Flink upsert sink: per commit one equality delete per upserted key + the new row
            for c in range(a.commits):
                keys = r.choice(total, a.upserts, replace=False)
                write(batch(seed0 + 10_000 + c, a.upserts, keys), f"{loc}/data/{c:05d}-upsert-data.parquet", a.codec)
                write(pa.Table.from_arrays([pa.array(keys)], schema=KEY_SCHEMA), f"{loc}/data/{c:05d}-upsert-eqdel.parquet", a.codec)
        else:
            for c in range(a.delete_files):  # each delete file touches one data file
                f = c % a.base_files
                first = int(r.integers(0, a.base_rows - a.deletes))
                pos = np.arange(first, first + a.deletes) if a.clustered else np.sort(r.choice(a.base_rows, a.deletes, replace=False))
                path = np.full(a.deletes, f"{WH}/ns/{a.name}/data/{f:05d}-base.parquet")
                write(pa.Table.from_arrays([pa.array(path), pa.array(pos)], schema=POS_SCHEMA), f"{loc}/data/{c:05d}-posdel.parquet", a.codec)
        java(a.kind, WH, a.name, a.codec, a.format_version, *["java"] * a.java)
    elif a.kind == "key-upserts":  # keys in no order, so that bounds tell files apart no more than in a real upsert table; format version 3
        total = a.base_files * a.base_rows; step = 1_000_003
        assert np.gcd(step, total) == 1
        for i in range(a.base_files):
            write_keys(np.arange(i * a.base_rows, (i + 1) * a.base_rows) * step % total, f"{loc}/data/{i:05d}-base.parquet")
        r = np.random.default_rng(seed0 - 1)
        for c in range(a.commits):
            keys = r.choice(total, a.upserts, replace=False, shuffle=False) if a.upserts * 10 > total else np.unique(r.integers(0, total, a.upserts))
            r.shuffle(keys)
            write_keys(keys, f"{loc}/data/{c:05d}-upsert-data.parquet")
            write_keys(keys, f"{loc}/data/{c:05d}-upsert-eqdel.parquet", deletes=True)
        java("staged-eq-deletes" if a.staged else "eq-deletes", WH, a.name, a.codec, 3)
    elif a.kind == "many-entries":
        java("many-entries", WH, a.name, a.codec, 2, a.entries, a.per_manifest)
    elif a.kind == "many-snapshots":
        b = batch(seed0, 10, np.arange(10)); write(b, f"{loc}/data/00000.parquet")
        for i in range(1, a.snapshots): shutil.copyfile(f"{loc}/data/00000.parquet", f"{loc}/data/{i:05d}.parquet")
        java("many-snapshots", WH, a.name, a.codec, 2, a.snapshots)
    elif a.kind == "orphans":
        old = time.time() - 10 * 86400
        for kind, n in (("live", a.live), ("orphan", a.orphan)):
            for i in range(n):
                d = f"{loc}/data/p={i % 100}"; os.makedirs(d, exist_ok=True); f = f"{d}/{kind}-{i:06d}.parquet"
                with open(f, "wb") as h: h.write(b"PAR1" + kind.encode())
                os.utime(f, (old, old))
        java("orphans", WH, a.name, a.codec, 2, a.live)
    else: sys.exit("unknown kind")
    dst = f"{PRISTINE}/{a.name}"; shutil.rmtree(dst, ignore_errors=True); os.makedirs(PRISTINE, exist_ok=True); os.rename(loc, dst)
    print(f"{a.kind} {a.name}: {time.time() - t0:.1f}s", flush=True)

if __name__ == "__main__": main()
