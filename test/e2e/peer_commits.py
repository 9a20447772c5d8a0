"""Appends small files, one commit each. In: {"uri", "catalog", "warehouse", "table", "commits", "rows", "first_id"}; out: {"commits"}."""

import json
import sys

import pyarrow
from pyiceberg.catalog.sql import SqlCatalog

request = json.load(sys.stdin)
table = SqlCatalog(request["catalog"], uri=request["uri"], warehouse=request["warehouse"]).load_table(request["table"])
schema = pyarrow.schema([pyarrow.field("id", pyarrow.int64(), nullable=False), ("data", pyarrow.string()),
                         ("cat", pyarrow.string()), ("amount", pyarrow.float64())])
for n in range(request["commits"]):
    ids = range(request["first_id"] + n * request["rows"], request["first_id"] + (n + 1) * request["rows"])
    table.append(pyarrow.Table.from_pylist([{"id": i, "data": f"row {i}", "cat": f"c{i % 5}", "amount": i / 7} for i in ids],
                                           schema=schema))
json.dump({"commits": request["commits"]}, sys.stdout)
