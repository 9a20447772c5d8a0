"""A PyIceberg writer that appends, deletes and overwrites rows of its own until told to stop.

In: {"uri", "catalog", "warehouse", "table", "seed", "first_id", "actions": [...], "stop": path of a file}
Out: {"commits", "conflicts", "rows": [[id, data, cat, amount], ...]}: what must be in the table.
Rows have ids of [first_id, first_id + 10^9); nobody else writes such ids.
"""

import json
import pathlib
import random
import sys
import time

import pyarrow
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.expressions import And, GreaterThanOrEqual, LessThan

request = json.load(sys.stdin)
rng = random.Random(request["seed"])
catalog = SqlCatalog(request["catalog"], uri=request["uri"], warehouse=request["warehouse"])
schema = pyarrow.schema([pyarrow.field("id", pyarrow.int64(), nullable=False), ("data", pyarrow.string()),
                         ("cat", pyarrow.string()), ("amount", pyarrow.float64())])
model = {}
next_id = request["first_id"]
counts = {"commits": 0, "conflicts": 0}


def make(ids):
    return {i: [i, f"py-{rng.randrange(10**6)}", f"c{rng.randrange(5)}", rng.random()] for i in ids}


def arrow(rows):
    return pyarrow.Table.from_pylist([dict(zip(schema.names, row)) for row in rows.values()], schema=schema)


def pick_range():
    low = rng.choice(list(model))
    return low, low + rng.randrange(1, 30)


while not pathlib.Path(request["stop"]).exists():
    action = rng.choice(request["actions"]) if len(model) > 40 else "append"
    after = dict(model)
    if action == "append":
        added = make(range(next_id, next_id + rng.randrange(1, 40)))
        next_id += len(added)  # a failed append's ids are never used again
        after.update(added)
    else:
        low, high = pick_range()
        keys = And(GreaterThanOrEqual("id", low), LessThan("id", high))
        added = make(i for i in range(low, high) if i in model) if action == "overwrite" else {}
        after = {i: row for i, row in model.items() if not low <= i < high} | added
    try:
        table = catalog.load_table(request["table"])
        if action == "append":
            table.append(arrow(added))
        elif action == "overwrite":
            table.overwrite(arrow(added), overwrite_filter=keys)
        else:
            table.delete(keys)
    except (CommitFailedException, ValidationException):
        counts["conflicts"] += 1
        continue
    counts["commits"] += 1
    model = after
    time.sleep(rng.uniform(0, 0.2))
json.dump(counts | {"rows": list(model.values())}, sys.stdout)
