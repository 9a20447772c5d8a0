#include "data/splice/schema.h"

#include "data/splice/thrift.h"

namespace icewright::splice {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxFixedWidth = 1 << 20;

// ConvertedType.
enum Converted { kUtf8 = 0, kEnum = 4, kConvertedDecimal = 5, kConvertedDate = 6, kTimeMicros = 8 };
constexpr int kTimestampMicros = 10;
constexpr int kInt32 = 17;
constexpr int kInt64 = 18;
constexpr int kJson = 19;
constexpr int kBson = 20;
// Members of LogicalType.
enum Logical {
  kString = 1,
  kLogicalEnum = 4,
  kDecimal = 5,
  kDate = 6,
  kTime = 7,
  kTimestamp = 8,
  kInteger = 10,
  kLogicalJson = 12,
  kLogicalBson = 13,
  kUuid = 14,
  kGeometry = 17,
  kGeography = 18
};

struct Element {
  int type = -1, width = 0, repetition = 0, children = 0, converted = -1;
  int scale = 0, precision = 0, id = -1;
  int logical = 0;  // member of the union; 0: none
  int unit = 0;     // of times: 1 millis, 2 micros, 3 nanos
  bool is_signed = true;
  ByteView name;
};

void ReadLogical(ThriftReader& r, const ThriftReader::Field& field, Element& e) {
  r.Struct(field, [&](const ThriftReader::Field& member) {
    e.logical = member.id;
    r.Struct(member, [&](const ThriftReader::Field& f) {
      const bool time = member.id == kTime || member.id == kTimestamp;
      if (time && f.id == 2) {
        r.Struct(f, [&](const ThriftReader::Field& unit) {
          e.unit = unit.id;
          r.Skip(unit);
        });
      } else if (member.id == kDecimal && f.id == 1) {
        e.scale = r.I32(f);
      } else if (member.id == kDecimal && f.id == 2) {
        e.precision = r.I32(f);
      } else if (member.id == kInteger && f.id == 2) {
        e.is_signed = r.Flag(f);
      } else {
        r.Skip(f);
      }
    });
  });
}

Element ReadElement(ThriftReader& r) {
  Element e;
  r.Struct([&](const ThriftReader::Field& f) {
    switch (f.id) {
      case 1:
        e.type = r.I32(f);
        break;
      case 2:
        e.width = r.I32(f);
        break;
      case 3:
        e.repetition = r.I32(f);
        break;
      case 4:
        e.name = r.Binary(f);
        break;
      case 5:
        e.children = r.I32(f);
        break;
      case 6:
        e.converted = r.I32(f);
        break;
      case 7:
        e.scale = r.I32(f);
        break;
      case 8:
        e.precision = r.I32(f);
        break;
      case 9:
        e.id = r.I32(f);
        break;
      case 10:
        ReadLogical(r, f, e);
        break;
      default:
        r.Skip(f);
    }
  });
  return e;
}

Meaning::Kind TimeKind(const Element& e) {
  if (e.logical == kTime) return e.unit == 2 ? Meaning::Kind::kTimeMicros : Meaning::Kind::kOther;
  if (e.logical == kTimestamp) {
    return e.unit == 2   ? Meaning::Kind::kTimestampMicros
           : e.unit == 3 ? Meaning::Kind::kTimestampNanos
                         : Meaning::Kind::kOther;
  }
  if (e.converted == kTimeMicros) return Meaning::Kind::kTimeMicros;
  return e.converted == kTimestampMicros ? Meaning::Kind::kTimestampMicros : Meaning::Kind::kOther;
}

// Does the annotation add nothing to the physical type?
bool IsBare(const Element& e) {
  const auto type = static_cast<Physical>(e.type);
  const bool none = e.logical == 0 && e.converted < 0;
  switch (type) {
    case Physical::kInt32:
      return none || (e.logical == kInteger && e.is_signed) ||
             (e.logical == 0 && e.converted == kInt32);
    case Physical::kInt64:
      return none || (e.logical == kInteger && e.is_signed) ||
             (e.logical == 0 && e.converted == kInt64);
    case Physical::kByteArray:
      return none || e.logical == kString || e.logical == kLogicalEnum ||
             e.logical == kLogicalJson || e.logical == kLogicalBson || e.logical == kGeometry ||
             e.logical == kGeography ||
             (e.logical == 0 && (e.converted == kUtf8 || e.converted == kEnum ||
                                 e.converted == kJson || e.converted == kBson));
    case Physical::kFixed:
      return none || e.logical == kUuid;
    case Physical::kInt96:
      return false;
    default:
      return none;
  }
}

Meaning MeaningOf(const Element& e) {
  Meaning out;
  if (e.logical == kDecimal || (e.logical == 0 && e.converted == kConvertedDecimal)) {
    out = {.kind = Meaning::Kind::kDecimal, .precision = e.precision, .scale = e.scale};
  } else if (e.logical == kDate || (e.logical == 0 && e.converted == kConvertedDate)) {
    out.kind = Meaning::Kind::kDate;
  } else if (!IsBare(e)) {
    out.kind = TimeKind(e);
  }
  return out;
}

Order OrderOf(const Element& e, const Meaning& meaning) {
  if (meaning.kind == Meaning::Kind::kOther) return Order::kUndefined;
  if (e.logical == kGeometry || e.logical == kGeography) return Order::kUndefined;
  const bool decimal = meaning.kind == Meaning::Kind::kDecimal;
  switch (static_cast<Physical>(e.type)) {
    case Physical::kBoolean:
      return Order::kBoolean;
    case Physical::kInt32:
      return Order::kSigned32;
    case Physical::kInt64:
      return Order::kSigned64;
    case Physical::kFloat:
      return Order::kFloat;
    case Physical::kDouble:
      return Order::kDouble;
    case Physical::kByteArray:
    case Physical::kFixed:
      return decimal ? Order::kSignedBigEndian : Order::kBytes;
    case Physical::kInt96:
      break;
  }
  return Order::kUndefined;
}

class TreeWalk {
 public:
  TreeWalk(const std::vector<Element>& elements, std::vector<Leaf>& out)
      : elements_(elements), out_(out) {}

  bool Visit(Leaf at, bool root, int depth) {
    if (next_ >= elements_.size() || depth > kMaxDepth) return false;
    const Element& e = elements_[next_++];
    if (!root) {
      if (e.repetition < 0 || e.repetition > 2) return false;
      at.path.push_back(e.name);
      at.nodes.push_back({.id = e.id, .repetition = e.repetition});
      if (e.repetition != 0) ++at.max_definition;
      if (e.repetition == 2) ++at.max_repetition;
    }
    if (e.type < 0 || e.children > 0 || root) {
      for (int i = 0; i < e.children; ++i) {
        if (!Visit(at, false, depth + 1)) return false;
      }
      return true;
    }
    return AddLeaf(e, std::move(at));
  }
  bool done() const { return next_ == elements_.size(); }

 private:
  bool AddLeaf(const Element& e, Leaf leaf) {
    constexpr std::array<int, 8> kWidths = {0, 4, 8, 12, 4, 8, 0, 0};
    if (e.type >= static_cast<int>(kWidths.size())) return false;
    leaf.type = static_cast<Physical>(e.type);
    leaf.width = kWidths[static_cast<std::size_t>(e.type)];
    if (leaf.type == Physical::kFixed) {
      if (e.width <= 0 || e.width > kMaxFixedWidth) return false;
      leaf.width = e.width;
    }
    leaf.meaning = MeaningOf(e);
    leaf.order = OrderOf(e, leaf.meaning);
    out_.push_back(std::move(leaf));
    return true;
  }

  const std::vector<Element>& elements_;
  std::vector<Leaf>& out_;
  std::size_t next_ = 0;
};

}  // namespace

Result<std::vector<Leaf>> ParseLeaves(ByteView schema) {
  ThriftReader r(schema);
  const ThriftReader::List list = r.ElementList();
  std::vector<Element> elements;
  for (std::uint32_t i = 0; i < list.size && r.ok(); ++i) elements.push_back(ReadElement(r));
  std::vector<Leaf> leaves;
  TreeWalk walk(elements, leaves);
  if (!r.ok() || !walk.Visit({}, true, 0) || !walk.done()) {
    return Error(Code::kCorrupt, "the schema in the Parquet footer is no tree");
  }
  return leaves;
}

}  // namespace icewright::splice
