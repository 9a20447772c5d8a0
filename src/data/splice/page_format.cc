#include "data/splice/format.h"
#include "data/splice/thrift.h"

namespace icewright::splice {

void ReadStatistics(ThriftReader& r, const ThriftReader::Field& field, Statistics& out);

namespace {

using Field = ThriftReader::Field;

Encoding ReadEncoding(ThriftReader& r, const Field& f) {
  const std::int32_t encoding = r.I32(f);
  if (encoding < 0 || encoding > 31) r.Fail("has an encoding out of range");
  return static_cast<Encoding>(encoding);
}

void ReadDataPage(ThriftReader& r, const Field& field, PageHeader& h) {
  r.Struct(field, [&](const Field& f) {
    switch (f.id) {
      case 1:
        h.values = r.I32(f);
        break;
      case 2:
        h.encoding = ReadEncoding(r, f);
        break;
      case 3:
        h.definition_encoding = ReadEncoding(r, f);
        break;
      case 4:
        h.repetition_encoding = ReadEncoding(r, f);
        break;
      case 5:
        ReadStatistics(r, f, h.statistics);
        break;
      default:
        r.Skip(f);
    }
  });
}

void ReadDictionaryPage(ThriftReader& r, const Field& field, PageHeader& h) {
  r.Struct(field, [&](const Field& f) {
    switch (f.id) {
      case 1:
        h.values = r.I32(f);
        break;
      case 2:
        h.encoding = ReadEncoding(r, f);
        break;
      case 3:
        h.is_sorted = r.Flag(f);
        break;
      default:
        r.Skip(f);
    }
  });
}

void ReadDataPageV2(ThriftReader& r, const Field& field, PageHeader& h) {
  r.Struct(field, [&](const Field& f) {
    switch (f.id) {
      case 1:
        h.values = r.I32(f);
        break;
      case 2:
        h.nulls = r.I32(f);
        break;
      case 3:
        h.rows = r.I32(f);
        break;
      case 4:
        h.encoding = ReadEncoding(r, f);
        break;
      case 5:
        h.definition_bytes = r.I32(f);
        break;
      case 6:
        h.repetition_bytes = r.I32(f);
        break;
      case 7:
        h.is_compressed = r.Flag(f);
        break;
      case 8:
        ReadStatistics(r, f, h.statistics);
        break;
      default:
        r.Skip(f);
    }
  });
}

bool InRange(const PageHeader& h, std::size_t left) {
  if (h.compressed < 0 || h.uncompressed < 0 || h.values < 0) return false;
  if (static_cast<std::size_t>(h.compressed) > left) return false;
  if (h.type != PageType::kDataV2) return true;
  if (h.definition_bytes < 0 || h.repetition_bytes < 0) return false;
  const std::int64_t levels = std::int64_t{h.definition_bytes} + h.repetition_bytes;
  return levels <= h.compressed && levels <= h.uncompressed;
}

}  // namespace

Result<std::size_t> ParsePageHeader(ByteView bytes, PageHeader& h) {
  h = {};
  ThriftReader r(bytes);
  bool known = false;
  r.Struct([&](const Field& f) {
    switch (f.id) {
      case 1: {
        const std::int32_t type = r.I32(f);
        if (type < 0 || type > 3) return r.Fail("has an unknown type");
        h.type = static_cast<PageType>(type);
        break;
      }
      case 2:
        h.uncompressed = r.I32(f);
        break;
      case 3:
        h.compressed = r.I32(f);
        break;
      case 4:
        h.crc = r.I32(f);
        break;
      case 5:
        known = h.type == PageType::kData;
        ReadDataPage(r, f, h);
        break;
      case 7:
        known = h.type == PageType::kDictionary;
        ReadDictionaryPage(r, f, h);
        break;
      case 8:
        known = h.type == PageType::kDataV2;
        ReadDataPageV2(r, f, h);
        break;
      default:
        r.Skip(f);
    }
  });
  if (r.ok() && !known && h.type != PageType::kIndex) r.Fail("has not the header of its type");
  if (r.ok() && !InRange(h, bytes.size() - r.position())) r.Fail("has sizes out of range");
  if (!r.ok()) return Error(Code::kCorrupt, "a page header " + std::string(r.error()));
  return r.position();
}

void WritePageHeader(Bytes& out, const PageHeader& h) {
  ThriftWriter w(out);
  w.Begin();
  w.I32(1, static_cast<int>(h.type));
  w.I32(2, h.uncompressed);
  w.I32(3, h.compressed);
  if (h.crc) w.I32(4, *h.crc);
  if (h.type == PageType::kData) {
    w.BeginField(5);
    w.I32(1, h.values);
    w.I32(2, static_cast<int>(h.encoding));
    w.I32(3, static_cast<int>(h.definition_encoding));
    w.I32(4, static_cast<int>(h.repetition_encoding));
  } else if (h.type == PageType::kDictionary) {
    w.BeginField(7);
    w.I32(1, h.values);
    w.I32(2, static_cast<int>(h.encoding));
    if (h.is_sorted) w.Flag(3, true);
  } else {
    w.BeginField(8);
    w.I32(1, h.values);
    w.I32(2, h.nulls);
    w.I32(3, h.rows);
    w.I32(4, static_cast<int>(h.encoding));
    w.I32(5, h.definition_bytes);
    w.I32(6, h.repetition_bytes);
    w.Flag(7, h.is_compressed);
  }
  w.End();
  w.End();
}

Result<OffsetIndex> ParseOffsetIndex(ByteView bytes) {
  ThriftReader r(bytes);
  OffsetIndex out;
  r.Struct([&](const Field& field) {
    if (field.id != 1) return r.Skip(field);
    const ThriftReader::List list = r.ReadList(field);
    for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) {
      PageLocation page;
      r.Struct([&](const Field& f) {
        if (f.id == 1) {
          page.offset = r.I64(f);
        } else if (f.id == 2) {
          page.size = r.I32(f);
        } else if (f.id == 3) {
          page.first_row = r.I64(f);
        } else {
          r.Skip(f);
        }
      });
      out.pages.push_back(page);
    }
  });
  if (!r.ok()) return Error(Code::kCorrupt, "an offset index " + std::string(r.error()));
  return out;
}

Result<ColumnIndex> ParseColumnIndex(ByteView bytes) {
  ThriftReader r(bytes);
  ColumnIndex out;
  r.Struct([&](const Field& f) {
    if (f.id == 4) {
      out.boundary_order = r.I32(f);
      return;
    }
    if (f.id < 1 || f.id > 5) return r.Skip(f);
    const ThriftReader::List list = r.ReadList(f);
    for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) {
      switch (f.id) {
        case 1:
          out.null_pages.push_back(r.ElementFlag());
          break;
        case 2:
          out.min.push_back(r.ElementBinary());
          break;
        case 3:
          out.max.push_back(r.ElementBinary());
          break;
        default:
          out.null_counts.push_back(r.ElementI64());
      }
    }
  });
  if (!r.ok()) return Error(Code::kCorrupt, "a column index " + std::string(r.error()));
  return out;
}

void WriteOffsetIndex(Bytes& out, const OffsetIndex& index) {
  ThriftWriter w(out);
  w.Begin();
  w.List(1, Wire::kStruct, index.pages.size());
  for (const PageLocation& page : index.pages) {
    w.Begin();
    w.I64(1, page.offset);
    w.I32(2, page.size);
    w.I64(3, page.first_row);
    w.End();
  }
  w.End();
}

void WriteColumnIndex(Bytes& out, const ColumnIndex& index) {
  ThriftWriter w(out);
  w.Begin();
  w.List(1, Wire::kTrue, index.null_pages.size());
  for (const bool is_null : index.null_pages) w.ElementFlag(is_null);
  w.List(2, Wire::kBinary, index.min.size());
  for (const ByteView value : index.min) w.Element(value);
  w.List(3, Wire::kBinary, index.max.size());
  for (const ByteView value : index.max) w.Element(value);
  w.I32(4, index.boundary_order);
  if (!index.null_counts.empty()) {
    w.List(5, Wire::kI64, index.null_counts.size());
    for (const std::int64_t count : index.null_counts) w.Element(count);
  }
  w.End();
}

}  // namespace icewright::splice
