#include "data/splice/format.h"
#include "data/splice/schema.h"
#include "data/splice/thrift.h"

namespace icewright::splice {
namespace {

using Field = ThriftReader::Field;

std::vector<std::int64_t> ReadNumbers(ThriftReader& r, const Field& f) {
  std::vector<std::int64_t> out;
  const ThriftReader::List list = r.ReadList(f);
  for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) out.push_back(r.ElementI64());
  return out;
}

void ReadSizes(ThriftReader& r, const Field& field, SizeStatistics& out) {
  r.Struct(field, [&](const Field& f) {
    switch (f.id) {
      case 1:
        out.unencoded_bytes = r.I64(f);
        break;
      case 2:
        out.repetition = ReadNumbers(r, f);
        break;
      case 3:
        out.definition = ReadNumbers(r, f);
        break;
      default:
        r.Skip(f);
    }
  });
}

void ReadEncodings(ThriftReader& r, const Field& f, ColumnChunk& out) {
  const ThriftReader::List list = r.ReadList(f);
  for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) {
    const std::int64_t encoding = r.ElementI64();
    if (encoding < 0 || encoding > 31) return r.Fail("an encoding is out of range");
    out.encodings |= 1U << encoding;
  }
}

}  // namespace

void ReadStatistics(ThriftReader& r, const ThriftReader::Field& field, Statistics& out) {
  r.Struct(field, [&](const Field& f) {
    switch (f.id) {
      case 3:
        out.null_count = r.I64(f);
        break;
      case 5:
        out.max = r.Binary(f);
        break;
      case 6:
        out.min = r.Binary(f);
        break;
      case 7:
        out.max_exact = r.Flag(f);
        out.exact_known = true;
        break;
      case 8:
        out.min_exact = r.Flag(f);
        out.exact_known = true;
        break;
      default:
        r.Skip(f);
    }
  });
}

namespace {

void ReadChunkMeta(ThriftReader& r, const Field& field, ColumnChunk& out) {
  r.Struct(field, [&](const Field& f) {
    switch (f.id) {
      case 1: {
        const std::int32_t type = r.I32(f);
        if (type < 0 || type > 7) return r.Fail("a column chunk has an unknown type");
        out.type = static_cast<Physical>(type);
        break;
      }
      case 2:
        ReadEncodings(r, f, out);
        break;
      case 4:
        out.codec = r.I32(f);
        break;
      case 5:
        out.values = r.I64(f);
        break;
      case 6:
        out.uncompressed = r.I64(f);
        break;
      case 7:
        out.compressed = r.I64(f);
        break;
      case 9:
        out.data_offset = r.I64(f);
        break;
      case 11:
        out.dictionary_offset = r.I64(f);
        break;
      case 12:
        ReadStatistics(r, f, out.statistics);
        break;
      case 14:
        out.has_bloom = true;
        r.Skip(f);
        break;
      case 16:
        ReadSizes(r, f, out.sizes);
        break;
      default:
        r.Skip(f);
    }
  });
}

ColumnChunk ReadChunk(ThriftReader& r) {
  ColumnChunk out;
  r.Struct([&](const Field& f) {
    switch (f.id) {
      case 1:
        out.external = true;
        r.Skip(f);
        break;
      case 3:
        ReadChunkMeta(r, f, out);
        break;
      case 4:
        out.offset_index.offset = r.I64(f);
        break;
      case 5:
        out.offset_index.size = r.I64(f);
        break;
      case 6:
        out.column_index.offset = r.I64(f);
        break;
      case 7:
        out.column_index.size = r.I64(f);
        break;
      case 8:
      case 9:
        out.encrypted = true;
        r.Skip(f);
        break;
      default:
        r.Skip(f);
    }
  });
  if (out.values < 0 || out.compressed < 0 || out.uncompressed < 0 || out.range().offset < 0) {
    r.Fail("a column chunk has a negative size");
  }
  // Then nobody knows; what is counted on must be possible.
  auto& nulls = out.statistics.null_count;
  if (nulls && (*nulls < 0 || *nulls > out.values)) nulls.reset();
  return out;
}

RowGroup ReadGroup(ThriftReader& r) {
  RowGroup out;
  r.Struct([&](const Field& f) {
    if (f.id == 1) {
      const ThriftReader::List list = r.ReadList(f);
      for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) out.columns.push_back(ReadChunk(r));
    } else if (f.id == 3) {
      out.rows = r.I64(f);
    } else {
      r.Skip(f);
    }
  });
  if (out.rows < 0) r.Fail("a row group has a negative length");
  return out;
}

bool AllTypeDefined(ByteView column_orders) {
  ThriftReader r(column_orders);
  const ThriftReader::List list = r.ElementList();
  bool all = list.size > 0;
  for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) {
    r.Struct([&](const Field& f) {
      all = all && f.id == 1;
      r.Skip(f);
    });
  }
  return all && r.ok();
}

Status CheckGroups(const FileMeta& meta) {
  for (const RowGroup& group : meta.groups) {
    if (group.columns.size() != meta.leaves.size()) {
      return Error(Code::kCorrupt, "a row group has not the columns of the schema");
    }
    for (std::size_t i = 0; i < meta.leaves.size(); ++i) {
      if (group.columns[i].type != meta.leaves[i].type) {
        return Error(Code::kCorrupt, "a column chunk has not the type of the schema");
      }
    }
  }
  return {};
}

}  // namespace

Result<FileMeta> ParseFooter(ByteView footer) {
  ThriftReader r(footer);
  FileMeta out;
  bool encrypted = false;
  r.Struct([&](const Field& f) {
    switch (f.id) {
      case 2:
        out.schema = f.type == Wire::kList ? r.Raw(f) : ByteView();
        break;
      case 3:
        out.rows = r.I64(f);
        break;
      case 4: {
        const ThriftReader::List list = r.ReadList(f);
        for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) out.groups.push_back(ReadGroup(r));
        break;
      }
      case 5:
        out.key_values = r.Raw(f);
        break;
      case 7:
        out.column_orders = r.Raw(f);
        break;
      case 8:
        encrypted = true;
        r.Skip(f);
        break;
      default:
        r.Skip(f);
    }
  });
  if (!r.ok()) return Error(Code::kCorrupt, "the Parquet footer " + std::string(r.error()));
  if (encrypted) return Error(Code::kUnsupported, "the Parquet file is encrypted");
  out.type_defined_order = AllTypeDefined(out.column_orders);
  IW_ASSIGN(out.leaves, ParseLeaves(out.schema));
  IW_TRY(CheckGroups(out));
  return out;
}

std::optional<BlockCodec> CodecOf(std::int32_t number) {
  switch (number) {
    case 0:
      return BlockCodec::kNone;
    case 1:
      return BlockCodec::kSnappy;
    case 2:
      return BlockCodec::kGzip;
    case 6:
      return BlockCodec::kZstd;
    case 7:
      return BlockCodec::kLz4Raw;
    default:
      return {};
  }
}

std::int32_t NumberOf(BlockCodec codec) {
  switch (codec) {
    case BlockCodec::kNone:
      return 0;
    case BlockCodec::kSnappy:
      return 1;
    case BlockCodec::kGzip:
      return 2;
    case BlockCodec::kZstd:
      return 6;
    case BlockCodec::kLz4Raw:
      return 7;
  }
  return 0;
}

}  // namespace icewright::splice
