"""Fills a table with files of random, incompressible rows. In: {"uri", "catalog", "table", "folder", "files", "rows"}."""

import json
import sys

import numpy
import pyarrow
import pyarrow.parquet
from pyiceberg.catalog.sql import SqlCatalog

request = json.load(sys.stdin)
table = SqlCatalog(request["catalog"], uri=request["uri"]).load_table(request["table"])
rng = numpy.random.default_rng(1)
paths = []
for number in range(request["files"]):
    rows = request["rows"]
    text = pyarrow.Array.from_buffers(pyarrow.string(), rows, [None, pyarrow.py_buffer(numpy.arange(0, 40 * rows + 1, 40, dtype=numpy.int32)),
                                                               pyarrow.py_buffer(rng.bytes(20 * rows).hex().encode())])
    batch = pyarrow.table({"id": pyarrow.array(numpy.arange(rows) + number * rows), "data": text})
    paths.append(f"{request['folder']}/{number:05d}.parquet")
    schema = pyarrow.schema([pyarrow.field("id", pyarrow.int64(), nullable=False), ("data", pyarrow.string())])
    pyarrow.parquet.write_table(batch.cast(schema), paths[-1], compression="zstd")
table.add_files(paths)
json.dump({"files": len(paths)}, sys.stdout)
