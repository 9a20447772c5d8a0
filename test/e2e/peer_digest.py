"""Row count and digest of tables as PyIceberg reads them; an own implementation of the digest.

In: {"tables": {name: {"metadata": location of a metadata file, "ref": name of a branch or null,
                       "data_files_only": true to leave deletes aside}}}
Out: {name: {"count": .., "digest": ..} or {"error": "Type: message"}}
"""

import decimal
import hashlib
import json
import math
import struct
import sys
import uuid

import pyarrow
from pyiceberg import types
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import ManifestContent
from pyiceberg.table import FileScanTask, StaticTable


def integers(array):
    """Days, microseconds or nanoseconds as they are stored."""
    width = pyarrow.int32() if array.type.bit_width == 32 else pyarrow.int64()
    return array.cast(width).to_pylist()


def values(array, kind):
    """Python values of a column; times as integers, whatever the nesting."""
    if isinstance(array, pyarrow.ChunkedArray):
        return [value for chunk in array.chunks for value in values(chunk, kind)]
    if isinstance(kind, types.StructType):
        columns = [values(array.field(i), field.field_type) for i, field in enumerate(kind.fields)]
        rows = list(zip(*columns)) if columns else [()] * len(array)
        return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist())]
    if isinstance(kind, (types.ListType, types.MapType)):
        if isinstance(kind, types.ListType):
            inner = values(array.values, kind.element_type)
        else:
            inner = list(zip(values(array.keys, kind.key_type), values(array.items, kind.value_type)))
        offsets = array.offsets.to_pylist()
        rows = [inner[begin:end] for begin, end in zip(offsets, offsets[1:])]
        return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist())]
    if isinstance(kind, (types.DateType, types.TimeType, types.TimestampType, types.TimestamptzType,
                         types.TimestampNanoType, types.TimestamptzNanoType)):
        return integers(array)
    if isinstance(array, pyarrow.ExtensionArray):
        array = array.storage
    return array.to_pylist()


def bits(value, packing, width, nan):
    return nan if math.isnan(value) else struct.pack(packing, value).hex().zfill(width)


def text(value, kind):
    if value is None:
        return "~"
    if isinstance(kind, types.BooleanType):
        return "t" if value else "f"
    if isinstance(kind, types.FloatType):
        return bits(value, ">f", 8, "7fc00000")
    if isinstance(kind, types.DoubleType):
        return bits(value, ">d", 16, "7ff8000000000000")
    if isinstance(kind, types.DecimalType):
        return format(value.quantize(decimal.Decimal(1).scaleb(-kind.scale)), "f")
    if isinstance(kind, types.StringType):
        return f"{len(value.encode())}:{value}"
    if isinstance(kind, types.UUIDType):
        return str(value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=value))
    if isinstance(kind, (types.FixedType, types.BinaryType)):
        return value.hex()
    if isinstance(kind, types.StructType):
        return "{" + ",".join(text(v, field.field_type) for v, field in zip(value, kind.fields)) + "}"
    if isinstance(kind, types.ListType):
        return "[" + ",".join(text(v, kind.element_type) for v in value) + "]"
    if isinstance(kind, types.MapType):
        pairs = sorted((text(k, kind.key_type), text(v, kind.value_type)) for k, v in value)
        return "(" + ",".join(f"{k}={v}" for k, v in pairs) + ")"
    return str(value)


def data_files_only(table):
    tasks = [FileScanTask(entry.data_file)
             for manifest in table.current_snapshot().manifests(table.io) if manifest.content == ManifestContent.DATA
             for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)]
    return ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue()).to_table(tasks)


def digest(request):
    table = StaticTable.from_metadata(request["metadata"])
    if request.get("data_files_only"):
        rows = data_files_only(table)
    else:
        scan = table.scan()
        rows = (scan.use_ref(request["ref"]) if request.get("ref") else scan).to_arrow()
    fields = table.schema().fields
    columns = [[text(value, field.field_type) for value in values(rows.column(field.name), field.field_type)]
               for field in fields]
    total = 0
    for row in zip(*columns):
        total += int.from_bytes(hashlib.sha256("|".join(row).encode()).digest()[:8], "big")
    return {"count": rows.num_rows, "digest": f"{total % 2**64:016x}"}


decimal.getcontext().prec = 60
request = json.load(sys.stdin)
out = {}
for name, table in request["tables"].items():
    try:
        out[name] = digest(table)
    except Exception as error:  # the test knows which messages are right
        out[name] = {"error": f"{type(error).__name__}: {error}"}
json.dump(out, sys.stdout)
