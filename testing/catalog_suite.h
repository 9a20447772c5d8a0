#pragma once

/// \file testing/catalog_suite.h
/// What every catalog promises, as one suite.
///
///   INSTANTIATE_TEST_SUITE_P(Memory, CatalogSuite, ::testing::Values(CatalogFactory{...}),
///                            CatalogFactory::Name);
///
/// Include it in one test file per binary. Catalogs that need a server are instantiated as
/// "Service".

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "testing/matchers.h"

namespace icewright {

struct CatalogUnderTest {
  std::shared_ptr<Catalog> catalog;
  std::shared_ptr<FileIO> io;
  Location warehouse;

  /// Another handle to the same names, as another process has it.
  std::function<Result<std::shared_ptr<Catalog>>()> reopen;
  std::shared_ptr<void> keep_alive = {};
};

struct CatalogFactory {
  std::string name;
  std::function<CatalogUnderTest()> make;
  bool keeps_namespace_properties = true;
  bool renames_and_registers = true;
  bool drops_without_purge = true;
  bool purges = true;
  bool lists_made_namespaces = true;  ///< Also those without tables.

  static std::string Name(const ::testing::TestParamInfo<CatalogFactory>& info) {
    return info.param.name;
  }
  friend void PrintTo(const CatalogFactory& factory, std::ostream* os) { *os << factory.name; }
};

class CatalogSuite : public ::testing::TestWithParam<CatalogFactory> {
 protected:
  Catalog& catalog() { return *under_test_.catalog; }
  FileIO& io() { return *under_test_.io; }
  const Location& warehouse() const { return under_test_.warehouse; }
  std::shared_ptr<Catalog> Reopen() {
    auto catalog = under_test_.reopen();
    EXPECT_THAT(catalog, IsOk());
    return catalog ? *catalog : nullptr;
  }

  static CreateTableRequest Request(Properties properties = {}) {
    return {
        .schema = Schema(
            {Field{
                 .id = FieldId{1}, .name = "id", .required = true, .type = Type::Of(TypeId::kLong)},
             Field{.id = FieldId{2},
                   .name = "data",
                   .required = false,
                   .type = Type::Of(TypeId::kString)}}),
        .properties = std::move(properties)};
  }

  void MakeNamespace(const Namespace& ns) {
    ASSERT_THAT(catalog().CreateNamespace(run_, ns, {}), IsOk()) << ToString(ns);
  }
  Result<Table> Make(const TableIdentifier& id, Properties properties = {}) {
    return catalog().CreateTable(run_, id, Request(std::move(properties)));
  }
  Status Set(Table& table, const std::string& key, const std::string& value) {
    const std::vector<TableUpdate> updates = {SetProperties{{{key, value}}}};
    return table.Commit(run_, {}, updates);
  }

  /// Adds a snapshot to main, as a writer does that saw `table`'s state.
  Status Append(Table& table, std::int64_t id) {
    const TableMetadata& seen = table.metadata();
    const Snapshot snapshot{.id = SnapshotId{id},
                            .parent_id = seen.current_snapshot_id,
                            .sequence_number = SequenceNumber{Raw(seen.last_sequence_number) + 1},
                            .timestamp = run_.Now(),
                            .operation = "append",
                            .summary = {{"total-records", "0"}},
                            .manifest_list = seen.location.Child("metadata/snap-x.avro"),
                            .schema_id = seen.current_schema_id};
    const std::vector<TableRequirement> requirements = {
        AssertRefSnapshotId{"main", seen.current_snapshot_id}};
    const std::vector<TableUpdate> updates = {
        AddSnapshot{snapshot}, SetSnapshotRef{"main", {.snapshot_id = SnapshotId{id}}}};
    return table.Commit(run_, requirements, updates);
  }

  /// File names below a table's folder that end in ".json", sorted.
  std::vector<std::string> MetadataFiles(const Table& table) {
    std::vector<std::string> names;
    EXPECT_THAT(io().List(table.metadata().location,
                          [&](const FileStatus& file) -> Status {
                            const std::string name(file.location.file_name());
                            if (name.ends_with(".json")) names.push_back(name);
                            return {};
                          }),
                IsOk());
    std::sort(names.begin(), names.end());
    return names;
  }

  RunContext run_{RunOptions{}};
  CatalogUnderTest under_test_ = GetParam().make();
};

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

inline const TableIdentifier kEvents{{"db"}, "events"};

TEST_P(CatalogSuite, AFreshCatalogIsEmpty) {
  EXPECT_THAT(catalog().ListNamespaces(run_, {}), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(catalog().ListNamespaces(run_, {"db"}), HasError(Code::kNotFound, HasSubstr("db")));
  EXPECT_THAT(catalog().ListTables(run_, {"db"}), HasError(Code::kNotFound, HasSubstr("db")));
  EXPECT_THAT(catalog().LoadNamespace(run_, {"db"}), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog().DropNamespace(run_, {"db"}), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog().LoadTable(run_, kEvents), HasError(Code::kNotFound, HasSubstr("events")));
  EXPECT_THAT(catalog().DropTable(run_, kEvents, {.purge = true}), HasCode(Code::kNotFound));
}

TEST_P(CatalogSuite, NamespacesAreMadeListedAndDropped) {
  MakeNamespace({"b"});
  MakeNamespace({"a"});
  EXPECT_THAT(catalog().CreateNamespace(run_, {"a"}, {}), HasCode(Code::kAlreadyExists));
  EXPECT_THAT(Reopen()->ListNamespaces(run_, {}),
              IsOkAndHolds(ElementsAre(Namespace{"a"}, Namespace{"b"})));
  EXPECT_THAT(catalog().ListTables(run_, {"a"}), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(catalog().DropNamespace(run_, {"a"}), IsOk());
  EXPECT_THAT(catalog().ListNamespaces(run_, {}), IsOkAndHolds(ElementsAre(Namespace{"b"})));
  EXPECT_THAT(catalog().DropNamespace(run_, {"a"}), HasCode(Code::kNotFound));
}

TEST_P(CatalogSuite, NamespacesNest) {
  MakeNamespace({"a"});
  MakeNamespace({"a", "x"});
  MakeNamespace({"a", "x", "deep"});
  MakeNamespace({"ab", "y"});
  EXPECT_THAT(catalog().ListNamespaces(run_, {}),
              IsOkAndHolds(ElementsAre(Namespace{"a"}, Namespace{"ab"})));
  EXPECT_THAT(catalog().ListNamespaces(run_, {"a"}),
              IsOkAndHolds(ElementsAre(Namespace{"a", "x"})));
  EXPECT_THAT(catalog().ListNamespaces(run_, {"ab"}),
              IsOkAndHolds(ElementsAre(Namespace{"ab", "y"})));
  EXPECT_THAT(catalog().DropNamespace(run_, {"a"}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(catalog().DropNamespace(run_, {"a", "x", "deep"}), IsOk());
  EXPECT_THAT(catalog().DropNamespace(run_, {"a", "x"}), IsOk());
  EXPECT_THAT(catalog().DropNamespace(run_, {"a"}), IsOk());
}

TEST_P(CatalogSuite, NamespacePropertiesAreKeptOrRefused) {
  const Properties properties = {{"owner", "me"}, {"comment", "it's 100 %"}};
  if (!GetParam().keeps_namespace_properties) {
    EXPECT_THAT(catalog().CreateNamespace(run_, {"db"}, properties), HasCode(Code::kUnsupported));
    EXPECT_THAT(catalog().ListNamespaces(run_, {}), IsOkAndHolds(IsEmpty()));
    MakeNamespace({"db"});
    EXPECT_THAT(catalog().LoadNamespace(run_, {"db"}),
                IsOkAndHolds(Properties{{"location", warehouse().Child("db").text()}}));
    return;
  }
  ASSERT_THAT(catalog().CreateNamespace(run_, {"db"}, properties), IsOk());
  Properties expected = properties;
  expected["location"] = warehouse().Child("db").text();
  EXPECT_THAT(Reopen()->LoadNamespace(run_, {"db"}), IsOkAndHolds(expected));
}

TEST_P(CatalogSuite, ANamespaceWithATableIsNotDropped) {
  MakeNamespace({"db"});
  ASSERT_THAT(Make(kEvents), IsOk());
  EXPECT_THAT(catalog().DropNamespace(run_, {"db"}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(catalog().LoadTable(run_, kEvents), IsOk());
}

TEST_P(CatalogSuite, ACreatedTableLoadsEverywhere) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(const Table made, Make(kEvents, {{"owner", "me"}}));
  EXPECT_EQ(made.name(), catalog().name() + ".db.events");
  IW_ASSERT_OK_AND_ASSIGN(const Table table, Reopen()->LoadTable(run_, kEvents));
  EXPECT_EQ(table.metadata_location(), made.metadata_location());
  const TableMetadata& metadata = table.metadata();
  EXPECT_EQ(metadata.table_uuid, made.metadata().table_uuid);
  EXPECT_THAT(metadata.table_uuid, SizeIs(36));
  EXPECT_EQ(metadata.location, warehouse().Child("db/events"));
  EXPECT_EQ(metadata.format_version, 2);
  EXPECT_EQ(metadata.properties.at("owner"), "me");
  EXPECT_TRUE(metadata.schema().SameAs(Request().schema));
  EXPECT_TRUE(metadata.snapshots.empty());
  EXPECT_THAT(io().Exists(table.metadata_location()), IsOkAndHolds(true));
  EXPECT_EQ(table.operations().read_only_reason(), "");
  EXPECT_THAT(catalog().ListTables(run_, {"db"}), IsOkAndHolds(ElementsAre(kEvents)));
}

TEST_P(CatalogSuite, ATakenNameIsNotCreatedAgain) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(const Table made, Make(kEvents));
  EXPECT_THAT(Make(kEvents), HasError(Code::kAlreadyExists, HasSubstr("db.events")));
  IW_ASSERT_OK_AND_ASSIGN(const Table table, catalog().LoadTable(run_, kEvents));
  EXPECT_EQ(table.metadata().table_uuid, made.metadata().table_uuid);
  EXPECT_THAT(MetadataFiles(table), SizeIs(1));
}

TEST_P(CatalogSuite, CreatingChecksItsArguments) {
  MakeNamespace({"db"});
  EXPECT_THAT(Make({{"db"}, ""}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(Make({{"db", ""}, "t"}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(Make(kEvents, {{"write.metadata.compression-codec", "lzma"}}),
              HasError(Code::kInvalidArgument, HasSubstr("lzma")));
  EXPECT_THAT(catalog().ListTables(run_, {"db"}), IsOkAndHolds(IsEmpty()));
}

TEST_P(CatalogSuite, ACommitIsSeenByOthersAfterARefresh) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(kEvents));
  IW_ASSERT_OK_AND_ASSIGN(Table other, Reopen()->LoadTable(run_, kEvents));
  const Location before = table.metadata_location();
  ASSERT_THAT(Set(table, "k", "v"), IsOk());
  EXPECT_EQ(table.metadata().properties.at("k"), "v");
  EXPECT_NE(table.metadata_location(), before);
  ASSERT_THAT(table.metadata().metadata_log, SizeIs(1));
  EXPECT_EQ(table.metadata().metadata_log[0].metadata_file, before);

  EXPECT_EQ(other.metadata().properties.count("k"), 0u);
  ASSERT_THAT(other.Refresh(run_), IsOk());
  EXPECT_EQ(other.metadata().properties.at("k"), "v");
  EXPECT_EQ(other.metadata_location(), table.metadata_location());
}

TEST_P(CatalogSuite, VersionsCountUpInFileNames) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(kEvents));
  const int first = MetadataVersionOf(table.metadata_location().file_name()).value_or(-1);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_THAT(Set(table, "k", std::to_string(i)), IsOk());
    EXPECT_EQ(MetadataVersionOf(table.metadata_location().file_name()), first + i);
  }
}

TEST_P(CatalogSuite, ACommitOfNothingWritesNothing) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(kEvents));
  const Location before = table.metadata_location();
  ASSERT_THAT(table.Commit(run_, {}, {}), IsOk());
  EXPECT_EQ(table.metadata_location(), before);
  EXPECT_THAT(MetadataFiles(table), SizeIs(1));
}

TEST_P(CatalogSuite, AStaleHandleCommitsIfItsRequirementsHold) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table first, Make(kEvents));
  IW_ASSERT_OK_AND_ASSIGN(Table second, catalog().LoadTable(run_, kEvents));
  ASSERT_THAT(Set(first, "a", "1"), IsOk());
  ASSERT_THAT(Set(second, "b", "2"), IsOk());
  EXPECT_EQ(second.metadata().properties.at("a"), "1");
  EXPECT_EQ(second.metadata().properties.at("b"), "2");
}

TEST_P(CatalogSuite, OfTwoWritersThatSawTheSameOneConflicts) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table winner, Make(kEvents));
  IW_ASSERT_OK_AND_ASSIGN(Table loser, Reopen()->LoadTable(run_, kEvents));
  ASSERT_THAT(Append(winner, 1), IsOk());
  const Location stale = loser.metadata_location();
  EXPECT_THAT(Append(loser, 2), HasCode(Code::kConflict));
  EXPECT_EQ(loser.metadata_location(), stale);
  EXPECT_THAT(MetadataFiles(winner), SizeIs(2)) << "the loser must leave nothing behind";

  ASSERT_THAT(loser.Refresh(run_), IsOk());
  ASSERT_THAT(Append(loser, 2), IsOk());
  ASSERT_THAT(loser.metadata().snapshots, SizeIs(2));
  EXPECT_EQ(loser.metadata().current_snapshot_id, SnapshotId{2});
  EXPECT_EQ(loser.metadata().snapshots[1].parent_id, SnapshotId{1});
}

TEST_P(CatalogSuite, ASequenceNumberTakenMeanwhileIsAConflict) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table winner, Make(kEvents));
  IW_ASSERT_OK_AND_ASSIGN(Table loser, catalog().LoadTable(run_, kEvents));
  ASSERT_THAT(Append(winner, 1), IsOk());
  // A snapshot for no branch: no requirement catches it.
  const Snapshot staged{.id = SnapshotId{2},
                        .sequence_number = SequenceNumber{1},
                        .operation = "append",
                        .manifest_list = warehouse().Child("snap-2.avro")};
  const std::vector<TableUpdate> updates = {AddSnapshot{staged}};
  EXPECT_THAT(loser.Commit(run_, {}, updates), HasCode(Code::kConflict));
}

// What is removed was chosen by what the writer saw; a newcomer may need it.
TEST_P(CatalogSuite, RemovalsConflictWithWhatTheWriterHasNotSeen) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table first, Make(kEvents));
  ASSERT_THAT(Append(first, 1), IsOk());
  ASSERT_THAT(Append(first, 2), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(Table remover, catalog().LoadTable(run_, kEvents));
  const std::vector<TableUpdate> tag = {
      SetSnapshotRef{"keep", {.snapshot_id = SnapshotId{1}, .kind = SnapshotRef::Kind::kTag}}};
  ASSERT_THAT(first.Commit(run_, {}, tag), IsOk());
  const std::vector<TableUpdate> removal = {RemoveSnapshots{{SnapshotId{1}}}};
  EXPECT_THAT(remover.Commit(run_, {}, removal), HasError(Code::kConflict, HasSubstr("keep")));

  ASSERT_THAT(remover.Refresh(run_), IsOk());
  ASSERT_THAT(Append(first, 3), IsOk());
  EXPECT_THAT(remover.Commit(run_, {}, removal), HasError(Code::kConflict, HasSubstr("3")));
  IW_ASSERT_OK_AND_ASSIGN(const Table after, catalog().LoadTable(run_, kEvents));
  EXPECT_THAT(after.metadata().snapshots, SizeIs(3));

  // A change that adds nothing is no reason to refuse.
  ASSERT_THAT(remover.Refresh(run_), IsOk());
  ASSERT_THAT(Set(first, "k", "v"), IsOk());
  ASSERT_THAT(remover.Commit(run_, {}, removal), IsOk());
  EXPECT_THAT(remover.metadata().snapshots, SizeIs(2));
}

TEST_P(CatalogSuite, AnUpdateThatDoesNotFitIsRefusedAndLeavesNothing) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(kEvents));
  const std::vector<TableUpdate> updates = {SetCurrentSchema{SchemaId{77}}};
  EXPECT_THAT(table.Commit(run_, {}, updates), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(MetadataFiles(table), SizeIs(1));
}

TEST_P(CatalogSuite, AReplacedTableIsAnother) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table old, Make(kEvents));
  const bool purge = !GetParam().drops_without_purge;
  ASSERT_THAT(catalog().DropTable(run_, kEvents, {.purge = purge}), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const Table fresh, Make(kEvents));
  EXPECT_NE(fresh.metadata().table_uuid, old.metadata().table_uuid);
  EXPECT_THAT(Set(old, "k", "v"), HasCode(Code::kConflict));
  EXPECT_THAT(old.Refresh(run_), HasError(Code::kConflict, HasSubstr("another table")));
}

TEST_P(CatalogSuite, DroppingRemovesTheName) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(kEvents));
  if (!GetParam().drops_without_purge) {
    EXPECT_THAT(catalog().DropTable(run_, kEvents, {}), HasCode(Code::kUnsupported));
    EXPECT_THAT(catalog().LoadTable(run_, kEvents), IsOk());
    return;
  }
  EXPECT_THAT(catalog().DropTable(run_, kEvents, {}), IsOk());
  EXPECT_THAT(io().Exists(table.metadata_location()), IsOkAndHolds(true));
  EXPECT_THAT(catalog().LoadTable(run_, kEvents), HasCode(Code::kNotFound));
  EXPECT_THAT(table.Refresh(run_), HasCode(Code::kNotFound));
  EXPECT_THAT(Set(table, "k", "v"), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog().DropTable(run_, kEvents, {}), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog().ListTables(run_, {"db"}), IsOkAndHolds(IsEmpty()));
}

TEST_P(CatalogSuite, PurgeRemovesTheFolderOrIsRefused) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(const Table table, Make(kEvents));
  IW_ASSERT_OK_AND_ASSIGN(const Table neighbour, Make({{"db"}, "events2"}));
  const Location data = table.metadata().location.Child("data/f.parquet");
  ASSERT_THAT(WriteFile(io(), data, "x", CreateMode::kNew), IsOk());
  const Status dropped = catalog().DropTable(run_, kEvents, {.purge = true});
  if (!GetParam().purges) {
    EXPECT_THAT(dropped, HasError(Code::kUnsupported, HasSubstr("purge")));
    EXPECT_THAT(catalog().LoadTable(run_, kEvents), IsOk());
    EXPECT_THAT(io().Exists(data), IsOkAndHolds(true));
    return;
  }
  EXPECT_THAT(dropped, IsOk());
  EXPECT_THAT(catalog().LoadTable(run_, kEvents), HasCode(Code::kNotFound));
  EXPECT_THAT(io().Exists(data), IsOkAndHolds(false));
  EXPECT_THAT(MetadataFiles(table), IsEmpty());
  EXPECT_THAT(catalog().LoadTable(run_, {{"db"}, "events2"}), IsOk());
}

TEST_P(CatalogSuite, PurgeLeavesAlonesWhatMayBeShared) {
  MakeNamespace({"db"});
  for (const Properties& properties :
       {Properties{{"gc.enabled", "false"}},
        Properties{{"write.data.path", warehouse().Child("elsewhere").text()}}}) {
    const TableIdentifier id{{"db"}, "t" + std::to_string(properties.begin()->first.size())};
    ASSERT_THAT(Make(id, properties), IsOk());
    EXPECT_THAT(catalog().DropTable(run_, id, {.purge = true}), HasCode(Code::kUnsupported));
    EXPECT_THAT(catalog().LoadTable(run_, id), IsOk());
  }
}

TEST_P(CatalogSuite, RenamingMovesTheNameOnly) {
  MakeNamespace({"db"});
  MakeNamespace({"other"});
  IW_ASSERT_OK_AND_ASSIGN(const Table table, Make(kEvents));
  const TableIdentifier to{{"other"}, "renamed"};
  if (!GetParam().renames_and_registers) {
    EXPECT_THAT(catalog().RenameTable(run_, kEvents, to), HasCode(Code::kUnsupported));
    EXPECT_THAT(catalog().LoadTable(run_, kEvents), IsOk());
    return;
  }
  EXPECT_THAT(catalog().RenameTable(run_, {{"db"}, "no"}, to), HasCode(Code::kNotFound));
  EXPECT_THAT(catalog().RenameTable(run_, kEvents, {{"missing"}, "t"}), HasCode(Code::kNotFound));
  ASSERT_THAT(Make({{"db"}, "taken"}), IsOk());
  EXPECT_THAT(catalog().RenameTable(run_, kEvents, {{"db"}, "taken"}),
              HasCode(Code::kAlreadyExists));

  ASSERT_THAT(catalog().RenameTable(run_, kEvents, to), IsOk());
  EXPECT_THAT(catalog().LoadTable(run_, kEvents), HasCode(Code::kNotFound));
  IW_ASSERT_OK_AND_ASSIGN(Table renamed, catalog().LoadTable(run_, to));
  EXPECT_EQ(renamed.metadata_location(), table.metadata_location());
  EXPECT_THAT(Set(renamed, "k", "v"), IsOk());
}

TEST_P(CatalogSuite, RegisteringGivesAnExistingFileAName) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(const Table table, Make(kEvents));
  const TableIdentifier id{{"db"}, "again"};
  if (!GetParam().renames_and_registers) {
    EXPECT_THAT(catalog().RegisterTable(run_, id, table.metadata_location()),
                HasCode(Code::kUnsupported));
    return;
  }
  ASSERT_THAT(catalog().DropTable(run_, kEvents, {}), IsOk());
  EXPECT_THAT(catalog().RegisterTable(run_, id, warehouse().Child("no.metadata.json")),
              HasCode(Code::kNotFound));
  const Location broken = warehouse().Child("broken.metadata.json");
  ASSERT_THAT(WriteFile(io(), broken, "{", CreateMode::kNew), IsOk());
  EXPECT_THAT(catalog().RegisterTable(run_, id, broken),
              HasError(Code::kCorrupt, HasSubstr("broken.metadata.json")));

  IW_ASSERT_OK_AND_ASSIGN(Table registered,
                          catalog().RegisterTable(run_, id, table.metadata_location()));
  EXPECT_EQ(registered.metadata().table_uuid, table.metadata().table_uuid);
  EXPECT_EQ(registered.metadata_location(), table.metadata_location());
  EXPECT_THAT(Set(registered, "k", "v"), IsOk());
  EXPECT_THAT(catalog().RegisterTable(run_, id, table.metadata_location()),
              HasCode(Code::kAlreadyExists));
  IW_ASSERT_OK_AND_ASSIGN(const Table loaded, Reopen()->LoadTable(run_, id));
  EXPECT_EQ(loaded.metadata().properties.at("k"), "v");
}

// Wildcards of LIKE, quotes, comments, other alphabets: none means anything in a name.
TEST_P(CatalogSuite, OddNamesAreJustNames) {
  const std::vector<std::string> names = {
      "a_b",        "aXb",         "50%",
      "it's",       "say \"x\"",   "x; DROP TABLE iceberg_tables; --",
      "b!c",        "back\\slash", "\xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80",
      "with space", "?",           "$1"};
  for (const std::string& name : names) {
    MakeNamespace({name});
    ASSERT_THAT(Make({{name}, name}), IsOk()) << name;
  }
  std::vector<Namespace> expected;
  for (const std::string& name : names) expected.push_back({name});
  std::sort(expected.begin(), expected.end());
  EXPECT_THAT(catalog().ListNamespaces(run_, {}), IsOkAndHolds(ElementsAreArray(expected)));
  for (const std::string& name : names) {
    const TableIdentifier id{{name}, name};
    EXPECT_THAT(catalog().ListTables(run_, {name}), IsOkAndHolds(ElementsAre(id))) << name;
    EXPECT_THAT(catalog().ListNamespaces(run_, {name}), IsOkAndHolds(IsEmpty())) << name;
    IW_ASSERT_OK_AND_ASSIGN(Table table, Reopen()->LoadTable(run_, id));
    EXPECT_EQ(table.metadata().location, warehouse().Child(name).Child(name));
    EXPECT_THAT(Set(table, name, name), IsOk()) << name;
    EXPECT_EQ(table.metadata().properties.at(name), name);
  }
}

TEST_P(CatalogSuite, GzipMetadataIsWrittenAndRead) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(kEvents));
  ASSERT_THAT(Set(table, "write.metadata.compression-codec", "gzip"), IsOk());
  EXPECT_THAT(table.metadata_location().text(), ::testing::EndsWith(".gz.metadata.json"));
  IW_ASSERT_OK_AND_ASSIGN(const Bytes bytes, ReadFile(io(), table.metadata_location()));
  EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
  ASSERT_THAT(Set(table, "k", "v"), IsOk());
  ASSERT_THAT(Set(table, "write.metadata.compression-codec", "none"), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const Table loaded, Reopen()->LoadTable(run_, kEvents));
  EXPECT_EQ(loaded.metadata_location(), table.metadata_location());
  EXPECT_EQ(loaded.metadata().properties.at("k"), "v");
  EXPECT_THAT(loaded.metadata().metadata_log, SizeIs(3));
}

TEST_P(CatalogSuite, OldMetadataIsDeletedOnlyIfAskedFor) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table,
                          Make(kEvents, {{"write.metadata.previous-versions-max", "2"}}));
  for (int i = 0; i < 5; ++i) ASSERT_THAT(Set(table, "k", std::to_string(i)), IsOk());
  EXPECT_THAT(table.metadata().metadata_log, SizeIs(2));
  EXPECT_THAT(MetadataFiles(table), SizeIs(6));

  const Location before = table.metadata_location();
  ASSERT_THAT(Set(table, "write.metadata.delete-after-commit.enabled", "true"), IsOk());
  EXPECT_THAT(MetadataFiles(table), SizeIs(6)) << "one was added, one fell out of the log";
  ASSERT_THAT(Set(table, "k", "x"), IsOk());
  EXPECT_THAT(MetadataFiles(table), SizeIs(6));
  EXPECT_THAT(io().Exists(before), IsOkAndHolds(true)) << "it is still in the log";
  EXPECT_THAT(Reopen()->LoadTable(run_, kEvents), IsOk());
}

TEST_P(CatalogSuite, ARunThatMayNotWriteLeavesNothing) {
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(Table table, Make(kEvents));
  RunContext barred(RunOptions{.may_write = [] { return Error(Code::kLockLost, "lease ended"); }});
  const std::vector<TableUpdate> updates = {SetProperties{{{"k", "v"}}}};
  EXPECT_THAT(table.Commit(barred, {}, updates), HasCode(Code::kLockLost));
  EXPECT_THAT(MetadataFiles(table), SizeIs(1));
  EXPECT_THAT(table.Refresh(run_), IsOk());
  EXPECT_EQ(table.metadata().properties.count("k"), 0u);
}

TEST_P(CatalogSuite, NoConcurrentCommitIsLost) {
  constexpr int kThreads = 2;
  constexpr int kCommits = 50;
  MakeNamespace({"db"});
  IW_ASSERT_OK_AND_ASSIGN(const Table made, Make(kEvents));
  const auto writer = [&](int thread) {
    RunContext run{RunOptions{}};
    auto handle = under_test_.reopen();
    ASSERT_THAT(handle, IsOk());
    auto table = (*handle)->LoadTable(run, kEvents);
    ASSERT_THAT(table, IsOk());
    for (int i = 0; i < kCommits;) {
      const std::vector<TableUpdate> updates = {
          SetProperties{{{"t" + std::to_string(thread) + "-" + std::to_string(i), "x"}}}};
      const Status status = table->Commit(run, {}, updates);
      if (status) {
        ++i;
      } else {
        ASSERT_THAT(status, HasCode(Code::kConflict));
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(writer, t);
  for (auto& thread : threads) thread.join();

  IW_ASSERT_OK_AND_ASSIGN(const Table table, catalog().LoadTable(run_, kEvents));
  EXPECT_THAT(table.metadata().properties,
              SizeIs(made.metadata().properties.size() + std::size_t{kThreads} * kCommits));
  EXPECT_THAT(MetadataFiles(table), SizeIs(1 + kThreads * kCommits));
  EXPECT_EQ(MetadataVersionOf(table.metadata_location().file_name()),
            *MetadataVersionOf(made.metadata_location().file_name()) + kThreads * kCommits);
  std::set<Location> log;
  for (const MetadataLogEntry& entry : table.metadata().metadata_log) {
    log.insert(entry.metadata_file);
  }
  EXPECT_THAT(log, SizeIs(kThreads * kCommits)) << "each version follows another one";
}

}  // namespace icewright
