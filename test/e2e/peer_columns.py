"""Columns of Parquet files as rows, read by pyarrow. In: {"files": [...], "columns": [...]}; out: {file: [[...], ...]}.

With "row_groups": true the row counts of the row groups instead.
"""

import json
import sys

import pyarrow.parquet

request = json.load(sys.stdin)
out = {}
for path in request["files"]:
    if request.get("row_groups"):
        footer = pyarrow.parquet.ParquetFile(path).metadata
        out[path] = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
        continue
    table = pyarrow.parquet.ParquetFile(path).read(request["columns"])
    out[path] = [list(row) for row in zip(*(table[name].to_pylist() for name in request["columns"]))]
json.dump(out, sys.stdout)
