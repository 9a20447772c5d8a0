// Planning over tables in memory: what is read, what is skipped, what is attached.

#include "scan/plan_files.h"

#include "io/memory_file_io.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_writer.h"
#include "table/literal.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

StructValue Cat(std::string value) { return {Literal(std::move(value))}; }

/// A table of columns id (1) and cat (2), partitioned by cat in spec 1; spec 0 is unpartitioned.
class PlanFilesTest : public ::testing::Test {
 protected:
  struct Added {
    DataFile file;
    std::optional<std::int64_t> number = {};
  };

  /// A manifest with these files, all of one spec.
  void AddManifest(ManifestContent content, std::int64_t number, const std::vector<Added>& files) {
    const PartitionSpec& spec = *table_.FindSpec(files.front().file.spec_id);
    const Location path("memory:/t/m" + std::to_string(manifests_.size()) + ".avro");
    auto writer = ManifestWriter::Create(
        run_, *io_, path, table_.schema(), spec,
        {.format_version = 3, .content = content, .snapshot_id = SnapshotId{1}});
    ASSERT_THAT(writer, IsOk());
    for (const Added& added : files) {
      std::optional<SequenceNumber> explicit_number;
      if (added.number) explicit_number = SequenceNumber{*added.number};
      ASSERT_THAT(writer->AddAdded(added.file, explicit_number), IsOk());
    }
    auto manifest = writer->Close();
    ASSERT_THAT(manifest, IsOk());
    manifest->sequence_number = SequenceNumber{number};
    manifest->sequence_number_pending = false;
    manifests_.push_back(*manifest);
  }

  /// "file: delete, delete" for each task, in order.
  std::vector<std::string> Plan(const PlanOptions& options = {}) {
    const Location list("memory:/t/snap.avro");
    EXPECT_THAT(io_->Delete(list), IsOk());
    EXPECT_THAT(
        WriteManifestList(run_, *io_, list, {.format_version = 3, .first_row_id = 0}, manifests_),
        IsOk());
    snapshot_.manifest_list = list;
    std::vector<std::string> lines;
    tasks_.clear();
    auto summary = PlanFiles(run_, *io_, table_, snapshot_, options, [&](FileTask&& task) {
      std::string line = task.data_file.file_path.text() + ":";
      for (const auto& task_delete : task.deletes) {
        line += " " + task_delete->file.file_path.text();
      }
      lines.push_back(std::move(line));
      tasks_.push_back(std::move(task));
      return Status();
    });
    EXPECT_THAT(summary, IsOk());
    if (summary) summary_ = *summary;
    return lines;
  }

  Expression Filter(std::string_view text) {
    auto filter = ParseExpression(table_.schema(), text);
    EXPECT_THAT(filter, IsOk());
    return *filter;
  }

  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  RunContext run_{RunOptions{.threads = 3}};
  TableMetadata table_ =
      MakeTable(MakeSchema({{1, "id", TypeId::kLong}, {2, "cat", TypeId::kString}}),
                {MakeSpec(0, {}), MakeSpec(1, {{2, "identity"}})}, 3);
  std::vector<ManifestFile> manifests_;
  Snapshot snapshot_;
  PlanSummary summary_;
  std::vector<FileTask> tasks_;
  const TestFile a_{.spec_id = 1, .partition = Cat("a")};
  const TestFile b_{.spec_id = 1, .partition = Cat("b")};
};

TEST_F(PlanFilesTest, VisitsFilesInTheOrderOfManifestsWhateverTheThreads) {
  std::vector<std::string> expected;
  for (int m = 0; m < 40; ++m) {
    std::vector<Added> files;
    for (int f = 0; f < 5; ++f) {
      const std::string name = std::to_string(m) + "-" + std::to_string(f);
      files.push_back({MakeDataFile(name)});
      expected.push_back(name + ":");
    }
    AddManifest(ManifestContent::kData, m, files);
  }
  EXPECT_EQ(Plan(), expected);
  EXPECT_EQ(summary_.data_manifests, 40);
  EXPECT_EQ(summary_.data_files, 200);
  EXPECT_EQ(tasks_[7].sequence_number, SequenceNumber{1});
  EXPECT_EQ(tasks_[7].file_sequence_number, SequenceNumber{1});
}

TEST_F(PlanFilesTest, AttachesDeletesAcrossManifestsAndSpecs) {
  AddManifest(ManifestContent::kDeletes, 4, {{MakePositionDeletes("p4", a_)}});
  AddManifest(ManifestContent::kData, 3, {{MakeDataFile("old", a_)}, {MakeDataFile("b", b_)}});
  AddManifest(ManifestContent::kData, 5,
              {{MakeDataFile("new", a_), 2}, {MakeDataFile("newer", a_)}});
  AddManifest(ManifestContent::kDeletes, 5, {{MakeEqualityDeletes("global", {1})}});
  EXPECT_THAT(Plan(), ElementsAre("old: p4 global", "b: global", "new: p4 global", "newer:"));
  EXPECT_EQ(summary_.delete_files, 2);
  EXPECT_EQ(summary_.delete_manifests, 2);
}

TEST_F(PlanFilesTest, SkipsManifestsByPartitionButNotDeletesThatMayApply) {
  AddManifest(ManifestContent::kData, 1, {{MakeDataFile("a1", a_)}, {MakeDataFile("a2", a_)}});
  AddManifest(ManifestContent::kData, 1, {{MakeDataFile("a3", a_)}, {MakeDataFile("b1", b_)}});
  AddManifest(ManifestContent::kData, 1, {{MakeDataFile("u1")}});
  AddManifest(ManifestContent::kDeletes, 2, {{MakePositionDeletes("pa", a_)}});
  AddManifest(ManifestContent::kDeletes, 2,
              {{MakePositionDeletes("pa2", a_)}, {MakePositionDeletes("pb", b_)}});
  AddManifest(ManifestContent::kDeletes, 2, {{MakeEqualityDeletes("global", {1})}});
  EXPECT_THAT(Plan({.filter = Filter("cat = 'b'")}), ElementsAre("b1: pb global", "u1: global"));
  EXPECT_EQ(summary_.data_manifests, 3);
  EXPECT_EQ(summary_.data_manifests_skipped, 1);
  EXPECT_EQ(summary_.data_files_skipped, 1);
  EXPECT_EQ(summary_.delete_manifests, 3);
  EXPECT_EQ(summary_.delete_manifests_skipped, 1);
  EXPECT_EQ(summary_.delete_files, 2);
}

TEST_F(PlanFilesTest, SkipsFilesByMetricsAndGivesMetricsOnlyWhenAsked) {
  const auto with_ids = [](std::string name, std::int64_t lower, std::int64_t upper) {
    DataFile file = MakeDataFile(std::move(name), {.records = 10});
    const Type type = Type::Of(TypeId::kLong);
    file.value_counts = {{FieldId{1}, 10}};
    file.null_value_counts = {{FieldId{1}, 0}};
    file.lower_bounds = {{FieldId{1}, ToBytes(type, lower)}};
    file.upper_bounds = {{FieldId{1}, ToBytes(type, upper)}};
    return file;
  };
  AddManifest(ManifestContent::kData, 1, {{with_ids("low", 0, 9)}, {with_ids("high", 10, 19)}});
  EXPECT_THAT(Plan({.filter = Filter("id > 9")}), ElementsAre("high:"));
  EXPECT_EQ(summary_.data_files_skipped, 1);
  EXPECT_THAT(tasks_[0].data_file.lower_bounds, IsEmpty());
  EXPECT_THAT(Plan({.filter = Filter("id > 9"), .metrics = true}), ElementsAre("high:"));
  EXPECT_EQ(tasks_[0].data_file.value_counts, (ColumnCounts{{FieldId{1}, 10}}));
  EXPECT_THAT(Plan({.filter = Filter("id > 19")}), IsEmpty());
  // Without a filter, metrics still leave out equality deletes that cannot match.
  DataFile deletes = with_ids("e", 0, 5);
  deletes.content = FileContent::kEqualityDeletes;
  deletes.equality_ids = {FieldId{1}};
  AddManifest(ManifestContent::kDeletes, 2, {{deletes}});
  EXPECT_THAT(Plan(), ElementsAre("low: e", "high:"));
  EXPECT_THAT(tasks_[0].data_file.lower_bounds, IsEmpty());
}

TEST_F(PlanFilesTest, ManifestsWithoutLiveFilesAreNotOpened) {
  ManifestFile gone;
  gone.manifest_path = Location("memory:/t/does-not-exist.avro");
  gone.added_files_count = gone.existing_files_count = 0;
  gone.deleted_files_count = 1;
  gone.added_rows_count = gone.existing_rows_count = gone.deleted_rows_count = 0;
  manifests_.push_back(gone);
  AddManifest(ManifestContent::kDeletes, 2, {{MakePositionDeletes("p", a_)}});
  EXPECT_THAT(Plan(), IsEmpty());
  EXPECT_EQ(summary_.data_manifests_skipped, 1);
  EXPECT_EQ(summary_.delete_manifests_skipped, 1);  // nothing they could apply to
}

TEST_F(PlanFilesTest, ErrorsOfFilesAndVisitorsAreReported) {
  const DataFile file = MakeDataFile("f");
  AddManifest(ManifestContent::kData, 1, {{file}});
  ASSERT_THAT(Plan(), ElementsAre("f:"));
  const auto fail = [](FileTask&&) { return Status(Error(Code::kExhausted, "enough")); };
  EXPECT_THAT(PlanFiles(run_, *io_, table_, snapshot_, {}, fail), HasCode(Code::kExhausted));

  AddManifest(ManifestContent::kDeletes, 2, {{MakeDv("x", file)}, {MakeDv("x", file, 44)}});
  const Location list("memory:/t/two.avro");
  ASSERT_THAT(
      WriteManifestList(run_, *io_, list, {.format_version = 3, .first_row_id = 0}, manifests_),
      IsOk());
  snapshot_.manifest_list = list;
  const auto take = [](FileTask&&) { return Status(); };
  EXPECT_THAT(PlanFiles(run_, *io_, table_, snapshot_, {}, take),
              HasError(Code::kCorrupt, HasSubstr("two DVs")));
  ASSERT_THAT(io_->Delete(manifests_[1].manifest_path), IsOk());
  EXPECT_THAT(PlanFiles(run_, *io_, table_, snapshot_, {}, take),
              HasError(Code::kNotFound, HasSubstr("m1.avro")));
}

TEST_F(PlanFilesTest, AStopEndsThePlan) {
  AddManifest(ManifestContent::kData, 1, {{MakeDataFile("f")}});
  ASSERT_THAT(Plan(), ElementsAre("f:"));
  std::stop_source source;
  source.request_stop();
  RunContext stopped(RunOptions{.stop = source.get_token()});
  EXPECT_THAT(PlanFiles(stopped, *io_, table_, snapshot_, {}, [](FileTask&&) { return Status(); }),
              HasCode(Code::kCancelled));
}

}  // namespace
}  // namespace icewright
