"""Appends a table's own rows to it once more. In: {"uri", "catalog", "table"}; out: {"before", "after"}: rows."""

import json
import sys

from pyiceberg.catalog.sql import SqlCatalog

request = json.load(sys.stdin)
table = SqlCatalog(request["catalog"], uri=request["uri"]).load_table(request["table"])
rows = table.scan().to_arrow()
table.append(rows)
json.dump({"before": rows.num_rows, "after": table.scan().to_arrow().num_rows}, sys.stdout)
