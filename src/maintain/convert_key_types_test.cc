// Keys of every type, through each way that deletes are resolved: the rows that stay are those of a
// list, to the row.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "maintain/convert_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

/// A column of the key. Values by the number of the key; the key that is null counts, too.
struct KeyColumn {
  Type type;
  std::string avro;
  std::vector<Literal> values;
  std::optional<Type> old_type = {};  ///< When the first file was written.
  std::string old_avro = {};
};

struct KeyCase {
  const char* name;
  std::vector<KeyColumn> columns;
  bool evolves() const {
    return std::ranges::any_of(columns, [](const KeyColumn& c) { return !c.old_avro.empty(); });
  }
  int keys() const { return static_cast<int>(std::ssize(columns[0].values)); }
  friend void PrintTo(const KeyCase& c, std::ostream* os) { *os << c.name; }
};

struct Way {
  const char* name;
  bool staged;
  const char* resolve;
  bool one_by_one;  ///< Staged: no batch of snapshots that shares a scan.
  bool parquet;     ///< Else all files are Avro.
  friend void PrintTo(const Way& w, std::ostream* os) { *os << w.name; }
};

Bytes BigEndian(Int128 value, int size) {
  Bytes out;
  for (int i = size - 1; i >= 0; --i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}

void WriteKey(avro::Encoder out, const std::string& avro, const Literal& value) {
  out.WriteLong(IsNull(value) ? 0 : 1);
  const bool is_fixed = avro.find("fixed") != std::string::npos;
  if (const auto* boolean = std::get_if<bool>(&value)) out.WriteBoolean(*boolean);
  if (const auto* number = std::get_if<std::int32_t>(&value)) out.WriteInt(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) out.WriteLong(*number);
  if (const auto* decimal = std::get_if<Int128>(&value)) {
    is_fixed ? out.WriteFixed(BigEndian(*decimal, 16)) : out.WriteBytes(BigEndian(*decimal, 4));
  }
  if (const auto* bytes = std::get_if<std::string>(&value)) {
    is_fixed ? out.WriteFixed(*bytes) : out.WriteBytes(*bytes);
  }
}

/// Columns are those of the key, and v, which tells rows apart.
class KeyTable : public ConvertTestTable {
 public:
  using Numbers = std::vector<int>;

  explicit KeyTable(const KeyCase& c, bool is_old = true) : case_(c), is_old_(is_old) {
    EXPECT_THAT(catalog().DropTable(run(), kHistoryTable, {}), IsOk());
    CreateTableRequest request{.schema = SchemaNow()};
    request.properties["format-version"] = "3";
    EXPECT_THAT(catalog().CreateTable(run(), kHistoryTable, request), IsOk());
  }

  void Evolve() {
    is_old_ = false;
    Update({AddSchema{SchemaNow()}, SetCurrentSchema{}});
  }
  void Add(const Numbers& keys, int first_v) {
    Commit({.added_data_files = {{Write(keys, first_v)}}});
    for (const int key : keys) rows_.emplace_back(key, first_v++);
  }
  void UpsertKeys(const std::string& branch, bool parquet, const Numbers& deleted,
                  const Numbers& added, int first_v) {
    DataFile deletes = parquet ? InParquet(deleted) : Write(deleted, {});
    deletes.content = FileContent::kEqualityDeletes;
    for (int i = 1; i <= std::ssize(case_.columns); ++i) deletes.equality_ids.push_back(FieldId{i});
    SnapshotUpdate update{
        .operation = "overwrite", .branch = branch, .added_delete_files = {{deletes}}};
    if (!added.empty()) update.added_data_files.push_back({Write(added, first_v)});
    Commit(update);
    dropped_ += std::erase_if(rows_, [&](const auto& row) {
      return std::ranges::find(deleted, row.first) != deleted.end();
    });
    for (const int key : added) rows_.emplace_back(key, first_v++);
  }

  std::vector<std::string> Expected() const {
    std::vector<std::string> out;
    for (const auto& [key, v] : rows_) out.push_back("[" + std::to_string(v) + "]");
    std::ranges::sort(out);
    return out;
  }
  std::int64_t dropped() const { return static_cast<std::int64_t>(dropped_); }

  std::string KeyColumns() const {
    std::string names;
    for (std::size_t i = 0; i < case_.columns.size(); ++i) {
      names += (i == 0 ? "k" : ",k") + std::to_string(i + 1);
    }
    return names;
  }

 private:
  Schema SchemaNow() const {
    std::vector<TestColumn> columns;
    for (const KeyColumn& column : case_.columns) {
      const int id = static_cast<int>(columns.size()) + 1;
      columns.emplace_back(id, "k" + std::to_string(id),
                           is_old_ ? column.old_type.value_or(column.type) : column.type);
    }
    columns.emplace_back(static_cast<int>(columns.size()) + 1, "v", TypeId::kInt);
    return MakeSchema(columns);
  }
  const std::string& AvroOf(const KeyColumn& column) const {
    return is_old_ && !column.old_avro.empty() ? column.old_avro : column.avro;
  }
  DataFile Write(const Numbers& keys, std::optional<int> first_v) {
    std::string fields;
    for (std::size_t i = 0; i < case_.columns.size(); ++i) {
      const std::string id = std::to_string(i + 1);
      fields += R"({"name": "k)" + id + R"(", "type": ["null", )" + AvroOf(case_.columns[i]) +
                R"(], "default": null, "field-id": )" + id + "},";
    }
    fields += R"({"name": "v", "type": ["null", "int"], "default": null, "field-id": )" +
              std::to_string(case_.columns.size() + 1) + "}";
    return WriteAvro(NewName("k"), fields, keys.size(), [&](avro::Encoder out, std::size_t row) {
      for (const KeyColumn& column : case_.columns) {
        WriteKey(out, AvroOf(column), column.values[static_cast<std::size_t>(keys[row])]);
      }
      WriteKey(out, "int", first_v ? Literal(*first_v + static_cast<int>(row)) : Literal());
    });
  }
  /// Compaction writes Parquet.
  DataFile InParquet(const Numbers& keys) {
    KeyTable other(case_, is_old_);
    other.Add(keys, 0);
    EXPECT_THAT(other.Rewrite({.rewrite_all = true}), IsOk());
    const auto live = other.Live();
    EXPECT_EQ(live.size(), 1U);
    const auto bytes = ReadFile(other.io(), live.at(0).file_path);
    EXPECT_THAT(bytes, IsOk());
    DataFile file = live.at(0);  // with bounds, by which files are left out
    file.file_path = Store(NewName("k"), bytes.value()).file_path;
    file.first_row_id.reset();
    return file;
  }

  const KeyCase& case_;
  bool is_old_;
  std::vector<std::pair<int, int>> rows_;  // key, v
  std::size_t dropped_ = 0;
};

class ConvertKeyTypesTest : public ::testing::TestWithParam<std::tuple<KeyCase, Way>> {};

TEST_P(ConvertKeyTypesTest, TheRowsOfAList) {
  const auto& [c, way] = GetParam();
  KeyTable table(c);
  std::vector<int> all(static_cast<std::size_t>(c.keys()));
  std::iota(all.begin(), all.end(), 0);
  const int last = c.keys() - 1;
  table.Add(all, 0);
  if (c.evolves()) table.Evolve();
  table.Add(all, 100);
  if (way.parquet) {
    ASSERT_THAT(table.Rewrite({.rewrite_all = true}), IsOk());
  }
  const std::string branch = way.staged ? "staging" : "main";
  if (way.staged) table.Branch(branch, *table.Load().metadata().current_snapshot_id);
  std::vector<int> even;
  std::ranges::copy_if(all, std::back_inserter(even), [](int key) { return key % 2 == 0; });
  table.UpsertKeys(branch, way.parquet, even, {0, last}, 200);
  table.UpsertKeys(branch, way.parquet, {0, 1}, {1, 1}, 210);
  table.UpsertKeys(branch, way.parquet, {last}, {last}, 220);

  const TempFolder folder;
  ConvertEqualityDeletesOptions options{.equality_field_columns = table.KeyColumns(),
                                        .resolve = way.resolve};
  if (way.staged) options.staging_branch = branch;
  if (options.resolve == "indexed") options.index_path = folder.path();
  if (way.one_by_one) options.max_staging_snapshots = 1;
  std::int64_t resolved = 0;
  for (int i = 0; i < (way.one_by_one ? 3 : 1); ++i) {
    ASSERT_THAT(table.Convert(options), IsOk());
    resolved += table.Count("resolved-delete-num");
  }
  EXPECT_EQ(table.LiveColumns({"v"}), table.Expected());
  EXPECT_EQ(resolved, table.dropped());
  EXPECT_EQ(table.EqualityDeleteFiles(), 0);
}

std::vector<Literal> Texts(const std::vector<std::string>& values) {
  std::vector<Literal> out(values.begin(), values.end());
  out.emplace_back();
  return out;
}
template <typename T>
std::vector<Literal> Numbers(const std::vector<std::int64_t>& values) {
  std::vector<Literal> out;
  for (const std::int64_t value : values) out.emplace_back(static_cast<T>(value));
  out.emplace_back();
  return out;
}
std::vector<Literal> Decimals(const std::vector<std::int64_t>& values, Int128 factor = 1) {
  std::vector<Literal> out;
  for (const std::int64_t value : values) out.emplace_back(Int128{value} * factor);
  out.emplace_back();
  return out;
}
std::string FixedAvro(int size, const std::string& more = "") {
  return R"({"type": "fixed", "name": "f", "size": )" + std::to_string(size) + more + "}";
}
std::string DecimalAvro(int precision) {
  return FixedAvro(
      16, R"(, "logicalType": "decimal", "scale": 2, "precision": )" + std::to_string(precision));
}
std::string TimestampAvro(const std::string& unit, bool utc) {
  return R"({"type": "long", "logicalType": "timestamp-)" + unit + R"(", "adjust-to-utc": )" +
         (utc ? "true}" : "false}");
}

const std::string kDateAvro = R"({"type": "int", "logicalType": "date"})";

std::vector<KeyCase> OneColumn() {
  constexpr std::int64_t kBig = std::int64_t{1} << 62;
  const std::string zeros(16, '\0');
  const std::string bytes = R"("bytes")";
  const std::string text = R"("string")";
  const std::string decimal_bytes =
      R"({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2})";
  return {
      {"Boolean", {{Type::Of(TypeId::kBoolean), R"("boolean")", {false, true, Literal()}}}},
      {"Int", {{Type::Of(TypeId::kInt), R"("int")", Numbers<std::int32_t>({0, -1, 1, 256, -256})}}},
      {"Long",
       {{Type::Of(TypeId::kLong), R"("long")",
         Numbers<std::int64_t>({0, -1, kBig, -kBig, std::int64_t{1} << 32, 1})}}},
      {"IntNowLong",
       {{Type::Of(TypeId::kLong), R"("long")",
         Numbers<std::int64_t>({0, -1, 2147483647, -2147483648, 7}), Type::Of(TypeId::kInt),
         R"("int")"}}},
      {"String",
       {{Type::Of(TypeId::kString), text,
         Texts({"", "a", std::string("a\0", 2), "ab", "b\xc3\xa4", "twelve bytes",
                "twelve bytes and more", "twelve bytes and less"})}}},
      {"Binary",
       {{Type::Of(TypeId::kBinary), bytes,
         Texts({"", std::string("\0", 1), std::string("\0\0", 2), "\xff", "\x7f\xff"})}}},
      {"Fixed", {{Type::Fixed(4), FixedAvro(4), Texts({zeros.substr(12), "abcd", "abce"})}}},
      {"Uuid",
       {{Type::Of(TypeId::kUuid), FixedAvro(16, R"(, "logicalType": "uuid")"),
         Texts({zeros, "0123456789abcdef", "1123456789abcdef", std::string(16, '\xff')})}}},
      {"Decimal",
       {{Type::Decimal(9, 2), DecimalAvro(9), Decimals({0, -1, 1, 127, 128, -128, 999999999})}}},
      {"DecimalOf38Digits",
       {{Type::Decimal(38, 2), DecimalAvro(38),
         Decimals({0, -1, 1, kBig, -kBig}, Int128{1} << 60)}}},
      {"DecimalNowWider",
       {{Type::Decimal(20, 2), DecimalAvro(20), Decimals({0, -1, 1, 128, -129}),
         Type::Decimal(9, 2), decimal_bytes}}},
      {"Date", {{Type::Of(TypeId::kDate), kDateAvro, Numbers<std::int32_t>({0, -1, 1, 19000})}}},
      {"Time",
       {{Type::Of(TypeId::kTime), R"({"type": "long", "logicalType": "time-micros"})",
         Numbers<std::int64_t>({0, 1, 86399999999})}}},
      {"Timestamp",
       {{Type::Of(TypeId::kTimestamp), TimestampAvro("micros", false),
         Numbers<std::int64_t>({0, -1, 1, 1700000000000000})}}},
      {"TimestampTz",
       {{Type::Of(TypeId::kTimestampTz), TimestampAvro("micros", true),
         Numbers<std::int64_t>({0, -1, 1, 1700000000000000})}}},
      {"TimestampNs",
       {{Type::Of(TypeId::kTimestampNs), TimestampAvro("nanos", false),
         Numbers<std::int64_t>({0, -1, 1, 1700000000000000000})}}}};
}

std::vector<KeyCase> Cases() {
  const std::string text = R"("string")";
  std::vector<KeyCase> cases = OneColumn();
  const std::vector<KeyCase> more = {
      {"TwoStrings",
       {{Type::Of(TypeId::kString),
         text,
         {Literal("a"), Literal("ab"), Literal(""), Literal("abc"), Literal(), Literal("abc"),
          Literal()}},
        {Type::Of(TypeId::kString),
         text,
         {Literal("bc"), Literal("c"), Literal("abc"), Literal(""), Literal("abc"), Literal(),
          Literal()}}}},
      {"DateAndNowLong",
       {{Type::Of(TypeId::kDate),
         kDateAvro,
         {Literal(1), Literal(1), Literal(2), Literal(), Literal()}},
        {Type::Of(TypeId::kLong),
         R"("long")",
         {Literal(std::int64_t{1}), Literal(std::int64_t{2}), Literal(std::int64_t{1}),
          Literal(std::int64_t{1}), Literal()},
         Type::Of(TypeId::kInt),
         R"("int")"}}},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

INSTANTIATE_TEST_SUITE_P(
    Types, ConvertKeyTypesTest,
    ::testing::Combine(::testing::ValuesIn(Cases()),
                       ::testing::Values(Way{"InPlaceScan", false, "stateless", false, true},

                                         Way{"StagedScan", true, "stateless", true, false},
                                         Way{"StagedBatch", true, "stateless", false, true},
                                         Way{"StagedIndex", true, "indexed", true, false})),
    [](const auto& test) {
      return std::string(std::get<0>(test.param).name) + std::get<1>(test.param).name;
    });

}  // namespace
}  // namespace icewright
