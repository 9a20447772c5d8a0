"""One step on a table by PyIceberg or pyarrow. In: {"uri", "catalog", "table", "step": ..., ...}; out: its result as JSON."""

import json
import os
import sys

import numpy
import pyarrow
import pyarrow.parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo
from pyiceberg.manifest import ManifestEntryStatus

request = json.loads(sys.stdin.buffer.read().decode())
table = SqlCatalog(request["catalog"], uri=request["uri"]).load_table(request["table"])
folder = table.location().removeprefix("file:") + "/data"
os.makedirs(folder, exist_ok=True)


def incompressible(first, rows, width):
    rng = numpy.random.default_rng(first)
    text = pyarrow.array([rng.bytes(width // 2).hex() for _ in range(rows)])
    schema = pyarrow.schema([pyarrow.field("id", pyarrow.int64(), nullable=False), ("data", pyarrow.string())])
    return pyarrow.table({"id": pyarrow.array(range(first, first + rows)), "data": text}).cast(schema)


def random_files():
    """One commit with files of random text: {"files": [[rows, width, rows per row group], ...]}."""
    paths, first = [], request.get("first", 0)
    for number, (rows, width, group) in enumerate(request["files"]):
        paths.append(f"{folder}/random-{first}.parquet")
        pyarrow.parquet.write_table(incompressible(first, rows, width), paths[-1], row_group_size=group, compression="zstd", use_dictionary=False)
        first += rows
    add(paths)
    return [pyarrow.parquet.ParquetFile(path).num_row_groups for path in paths]


def add(paths):
    table.add_files(paths)


def append():
    """Rows given as JSON, in the table's own types; a map is a list of pairs."""
    schema = table.schema().as_arrow()
    columns = {field.name: [row[field.name] for row in request["rows"]] for field in schema}
    for field in schema:
        if pyarrow.types.is_map(field.type):
            columns[field.name] = [[tuple(pair) for pair in pairs] for pairs in columns[field.name]]
    table.append(pyarrow.table(columns, schema=schema))


def files_without_ids():
    """Parquet files without field ids: {"files": [{column: [values]}, ...]}; the table gets a name mapping."""
    paths = []
    for number, columns in enumerate(request["files"]):
        paths.append(f"{folder}/no-ids-{number}.parquet")
        pyarrow.parquet.write_table(pyarrow.table(columns), paths[-1])
    add(paths)


def rename():
    with table.update_schema() as update:
        update.rename_column(*request["columns"])


def properties():
    with table.transaction() as transaction:
        transaction.set_properties(**request["set"])


def find():
    """Rows equal to a value: {"column", "values"}; how many of each."""
    return [table.scan(row_filter=EqualTo(request["column"], value)).to_arrow().num_rows for value in request["values"]]


def entries():
    """Entries of the manifests that the newest snapshot wrote."""
    snapshot = table.current_snapshot()
    out = []
    for manifest in snapshot.manifests(table.io):
        if manifest.added_snapshot_id != snapshot.snapshot_id:
            continue
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
            out.append({"status": ManifestEntryStatus(entry.status).name, "snapshot_id": entry.snapshot_id,
                        "sequence_number": entry.sequence_number, "file_sequence_number": entry.file_sequence_number,
                        "path": entry.data_file.file_path})
    return {"snapshot_id": snapshot.snapshot_id, "entries": out}


def sizes():
    """Bytes of the live data files."""
    return sorted(task.file.file_size_in_bytes for task in table.scan().plan_files())


json.dump({function.__name__: function for function in
           (random_files, append, files_without_ids, rename, properties, find, entries, sizes)}[request["step"]](), sys.stdout)
