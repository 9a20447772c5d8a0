// Random upsert histories in which the key columns change: promoted, renamed, nested, one more with
// a default, other partitions. What a scan gives before and after a conversion is the same, and is
// what a list of rows says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <tuple>

#include "maintain/convert_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

/// Of a row: k, n.a and, once the table has it, x.
using Key = std::tuple<std::optional<int>, std::optional<int>, int>;

struct Row {
  Key key;
  int spec = 0;
};

constexpr int kDefaultX = 7;

class EvolvingTable : public ConvertTestTable {
 public:
  explicit EvolvingTable(HistoryTestOptions options) : ConvertTestTable(options) {
    EXPECT_THAT(catalog().DropTable(run(), kHistoryTable, {}), IsOk());
    CreateTableRequest request{.schema = SchemaNow()};
    request.properties["format-version"] = "3";
    EXPECT_THAT(catalog().CreateTable(run(), kHistoryTable, request), IsOk());
  }

  // ---- Evolution

  void WidenK() { k_ = TypeId::kLong, NewSchema(); }
  void WidenA() { a_ = TypeId::kLong, NewSchema(); }
  void RenameK() { name_ = name_ == "k" ? "key" : "k", NewSchema(); }
  void AddX() { has_x_ = true, NewSchema(); }
  bool has_x() const { return has_x_; }
  void NewSpec(int buckets) {
    ++spec_;
    buckets_ = buckets;
    const PartitionSpec spec =
        buckets == 0 ? MakeSpec(spec_, {})
                     : MakeSpec(spec_, {{1, "bucket[" + std::to_string(buckets) + "]"}}, spec_);
    Update({AddPartitionSpec{spec}, SetDefaultSpec{}});
    spec_ = static_cast<int>(Raw(Load().metadata().default_spec_id));
  }
  std::string KeyColumnsNow() const { return name_ + ",n.a" + (has_x_ ? ",x" : ""); }

  // ---- Upserts, beside the list of rows

  void UpsertKeys(const std::vector<Key>& deleted, const std::vector<Key>& added) {
    SnapshotUpdate update{.operation = added.empty() ? "delete" : "overwrite"};
    for (const auto& [bucket, keys] : ByBucket(deleted)) {
      DataFile file = Write(keys, bucket);
      file.content = FileContent::kEqualityDeletes;
      file.equality_ids = {FieldId{1}, FieldId{3}};
      if (has_x_) file.equality_ids.push_back(FieldId{4});
      update.added_delete_files.push_back({file});
    }
    for (const auto& [bucket, keys] : ByBucket(added)) {
      update.added_data_files.push_back({Write(keys, bucket)});
    }
    Commit(update);
    std::erase_if(rows_, [&](const Row& row) {
      return (buckets_ == 0 || row.spec == spec_) &&
             std::ranges::find(deleted, row.key) != deleted.end();
    });
    for (const Key& key : added) rows_.push_back({key, spec_});
  }
  void RowsAreAllInTheSpecNow() {
    for (Row& row : rows_) row.spec = spec_;
  }

  std::vector<std::string> Expected() const {
    std::vector<std::string> rows;
    const auto text = [](std::optional<int> v) { return v ? std::to_string(*v) : "null"; };
    for (const Row& row : rows_) {
      const auto& [k, a, x] = row.key;
      rows.push_back("[" + text(k) + R"(,{"a":)" + text(a) + "}" +
                     (has_x_ ? "," + std::to_string(x) : "") + "]");
    }
    std::ranges::sort(rows);
    return rows;
  }
  std::vector<std::string> Found() {
    std::vector<std::string> columns = {name_, "n"};
    if (has_x_) columns.push_back("x");
    return LiveColumns(columns);
  }

 private:
  Schema SchemaNow() const {
    std::vector<Field> fields = {
        {.id = FieldId{1}, .name = name_, .type = Type::Of(k_)},
        {.id = FieldId{2},
         .name = "n",
         .type = Type::Struct({{.id = FieldId{3}, .name = "a", .type = Type::Of(a_)}})}};
    if (has_x_) {
      fields.push_back({.id = FieldId{4},
                        .name = "x",
                        .type = Type::Of(TypeId::kLong),
                        .initial_default = Literal(std::int64_t{kDefaultX}),
                        .write_default = Literal(std::int64_t{kDefaultX})});
    }
    return Schema(std::move(fields), SchemaId{0});
  }
  void NewSchema() { Update({AddSchema{SchemaNow()}, SetCurrentSchema{}}); }

  static int BucketOf(const std::optional<int>& k, int buckets) {
    if (!k) return -1;
    const auto value = Transform::Parse("bucket[" + std::to_string(buckets) + "]")
                           .Apply(Type::Of(TypeId::kInt), Literal(std::int32_t{*k}));
    return std::get<std::int32_t>(*value);
  }
  std::map<int, std::vector<Key>> ByBucket(const std::vector<Key>& keys) const {
    std::map<int, std::vector<Key>> out;
    for (const Key& key : keys) {
      out[buckets_ == 0 ? 0 : BucketOf(std::get<0>(key), buckets_)].push_back(key);
    }
    return out;
  }
  DataFile Write(const std::vector<Key>& keys, int bucket) {
    const auto column = [](const std::string& name, TypeId type, int id) {
      return R"({"name": ")" + name + R"(", "type": ["null", ")" +
             (type == TypeId::kInt ? "int" : "long") + R"("], "default": null, "field-id": )" +
             std::to_string(id) + "}";
    };
    const std::string fields =
        column(name_, k_, 1) +
        R"(, {"name": "n", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [)" +
        column("a", a_, 3) + "]}}" + (has_x_ ? ", " + column("x", TypeId::kLong, 4) : "");
    DataFile file =
        WriteAvro(NewName("v"), fields, keys.size(), [&](avro::Encoder out, std::size_t i) {
          const auto put = [&](std::optional<int> value) {
            out.WriteLong(value ? 1 : 0);
            if (value) out.WriteLong(*value);
          };
          const auto& [k, a, x] = keys[i];
          put(k);
          put(a);
          if (has_x_) put(x);
        });
    file.spec_id = SpecId{spec_};
    if (buckets_ > 0) {
      file.partition = {bucket < 0 ? Literal() : Literal(std::int32_t{bucket})};
    }
    return file;
  }

  TypeId k_ = TypeId::kInt;
  TypeId a_ = TypeId::kInt;
  std::string name_ = "k";
  bool has_x_ = false;
  int spec_ = 0;
  int buckets_ = 0;
  std::vector<Row> rows_;
};

class Evolution {
 public:
  Evolution(std::uint64_t seed, int steps)
      : seed_(seed), rng_(seed), steps_(steps), table_({.threads = 1 + Below(2)}) {
    if (Below(4) == 0) {
      options_ = {.resolve = "indexed", .index_path = folder_.path()};
    }
  }

  void Run() {
    SCOPED_TRACE("ICEWRIGHT_TEST_SEED=" + std::to_string(seed_));
    table_.UpsertKeys({}, Keys(6));
    for (int i = 0; i < steps_ && !::testing::Test::HasFailure(); ++i) {
      Step();
      EXPECT_EQ(table_.Found(), table_.Expected());
    }
  }

 private:
  void Step() {
    switch (Below(12)) {
      case 0:
        return table_.WidenK();
      case 1:
        return table_.WidenA();
      case 2:
        return table_.RenameK();
      case 3:
        if (table_.has_x()) return;
        Convert(true);  // deletes by the old key do not mix with those by the new one
        return table_.AddX();
      case 4:
        return table_.NewSpec(Below(3) * 2);
      case 5:
        EXPECT_THAT(table_.Rewrite({.rewrite_all = true}), IsOk());
        return table_.RowsAreAllInTheSpecNow();
      case 6:
      case 7:
      case 8: {
        const auto deleted = Keys(4);
        const auto added = Keys(3);
        if (!deleted.empty() || !added.empty()) table_.UpsertKeys(deleted, added);
        return;
      }
      default:
        return Convert(Below(2) == 0);
    }
  }
  void Convert(bool all) {
    ConvertEqualityDeletesOptions options = options_;
    options.equality_field_columns = table_.KeyColumnsNow();
    if (!all) options.max_staging_snapshots = 1;
    EXPECT_THAT(table_.Convert(options), IsOk());
    if (all) {
      EXPECT_EQ(table_.EqualityDeleteFiles(), 0);
    }
    table_.Vectors();  // at most one each
  }
  int Below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  std::vector<Key> Keys(int most) {
    std::vector<Key> keys(static_cast<std::size_t>(Below(most + 1)));
    for (auto& [k, a, x] : keys) {
      if (Below(6) != 0) k = Below(3);
      if (Below(6) != 0) a = Below(2);
      x = table_.has_x() && Below(3) == 0 ? Below(2) : kDefaultX;
    }
    return keys;
  }

  std::uint64_t seed_;
  std::mt19937_64 rng_;
  int steps_;
  TempFolder folder_;
  EvolvingTable table_;
  ConvertEqualityDeletesOptions options_;
};

std::uint64_t FirstSeed() {
  const char* seed = std::getenv("ICEWRIGHT_TEST_SEED");
  return seed == nullptr ? 20240601 : std::strtoull(seed, nullptr, 10);
}

TEST(ConvertEvolutionTest, RowsAreWhatAListSays) {
  for (std::uint64_t i = 0; i < 60 && !HasFailure(); ++i) Evolution(FirstSeed() + i, 14).Run();
}

TEST(ConvertEvolutionSlowTest, RowsAreWhatAListSays) {
  for (std::uint64_t i = 0; i < 2000 && !HasFailure(); ++i) {
    Evolution(FirstSeed() + 1000 + i, 30).Run();
  }
}

TEST(ConvertEvolutionTest, AFloatInTheKeyIsRefused) {
  EvolvingTable table({});
  table.Update({AddSchema{MakeSchema({{1, "k", TypeId::kInt}, {9, "f", TypeId::kFloat}})},
                SetCurrentSchema{}});
  table.UpsertKeys({}, {Key{1, 1, 7}});
  EXPECT_THAT(table.Convert({.equality_field_columns = "k,f"}),
              HasError(Code::kUnsupported, ::testing::HasSubstr("'f' is a floating-point column")));
}

}  // namespace
}  // namespace icewright
