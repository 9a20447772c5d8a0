"""Columns of Parquet files as rows, read by pyarrow. In: {"files": [...], "columns": [...]}; out: {file: [[...], ...]}."""

import json
import sys

import pyarrow.parquet

request = json.load(sys.stdin)
out = {}
for path in request["files"]:
    table = pyarrow.parquet.ParquetFile(path).read(request["columns"])
    out[path] = [list(row) for row in zip(*(table[name].to_pylist() for name in request["columns"]))]
json.dump(out, sys.stdout)
