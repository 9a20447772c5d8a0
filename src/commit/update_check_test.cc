#include "commit/update_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

DataFile Data(const char* path) {
  DataFile file;
  file.file_path = Location(path);
  return file;
}

DataFile PositionDeletes(const char* path) {
  DataFile file = Data(path);
  file.content = FileContent::kPositionDeletes;
  return file;
}

DataFile Dv(const char* puffin, std::int64_t offset, const char* data) {
  DataFile file = PositionDeletes(puffin);
  file.file_format = FileFormat::kPuffin;
  file.referenced_data_file = Location(data);
  file.content_offset = offset;
  file.content_size_in_bytes = 40;
  return file;
}

struct Case {
  const char* name;
  SnapshotUpdate update;
  const char* message;  ///< null: fine
};

class UpdateCheckTest : public ::testing::TestWithParam<Case> {};

TEST_P(UpdateCheckTest, Decides) {
  const Status checked = CheckUpdate(GetParam().update);
  if (GetParam().message == nullptr) {
    EXPECT_THAT(checked, IsOk());
  } else {
    EXPECT_THAT(checked, HasError(Code::kInvalidArgument, HasSubstr(GetParam().message)));
  }
}

DataFile NamelessDv() {
  DataFile dv = Dv("p", 4, "f");
  dv.referenced_data_file.reset();
  return dv;
}

INSTANTIATE_TEST_SUITE_P(
    Table, UpdateCheckTest,
    ::testing::Values(
        Case{"EmptyAppend", {}, nullptr},
        Case{"Append", {.added_data_files = {{Data("a")}, {Data("b")}}}, nullptr},
        Case{"UnknownOperation", {.operation = "Append"}, "no such operation"},
        Case{"AppendThatRemoves", {.removed_data_files = {Data("a")}}, "must not remove"},
        Case{"DeleteThatAddsData",
             {.operation = "delete", .added_data_files = {{Data("a")}}},
             "must not add data"},
        Case{"DeleteThatAddsDeletes",
             {.operation = "delete", .added_delete_files = {{PositionDeletes("d")}}},
             nullptr},
        Case{"ReplaceOfNothing", {.operation = "replace"}, "must remove files"},
        Case{"ReplaceThatOnlyAdds",
             {.operation = "replace", .added_data_files = {{Data("a")}}},
             "must remove files"},
        Case{"ReplaceOfDeletesByData",
             {.operation = "replace",
              .added_data_files = {{Data("a")}},
              .removed_delete_files = {PositionDeletes("d")}},
             "no data file is replaced"},
        Case{"ReplaceOfDataByDeletes",
             {.operation = "replace",
              .added_delete_files = {{PositionDeletes("d")}},
              .removed_data_files = {Data("a")}},
             "no delete file is replaced"},
        Case{"ReplaceThatOnlyRemoves",
             {.operation = "replace", .removed_data_files = {Data("a")}},
             nullptr},
        Case{"DeletesAmongAddedData",
             {.added_data_files = {{PositionDeletes("d")}}},
             "holds deletes"},
        Case{"DataAmongAddedDeletes", {.added_delete_files = {{Data("a")}}}, "holds data"},
        Case{"DeletesAmongRemovedData",
             {.operation = "delete", .removed_data_files = {PositionDeletes("d")}},
             "holds deletes"},
        Case{"DataAmongRemovedDeletes",
             {.operation = "delete", .removed_delete_files = {Data("a")}},
             "holds data"},
        Case{"AddedTwice", {.added_data_files = {{Data("a")}, {Data("a")}}}, "added twice"},
        Case{"RemovedTwiceIsOnce",
             {.operation = "delete", .removed_data_files = {Data("a"), Data("a")}},
             nullptr},
        Case{"AddedAndRemoved",
             {.operation = "overwrite",
              .added_data_files = {{Data("a")}},
              .removed_data_files = {Data("a")}},
             "added and removed"},
        Case{"DeletesAddedAndRemoved",
             {.operation = "overwrite",
              .added_delete_files = {{PositionDeletes("d")}},
              .removed_delete_files = {PositionDeletes("d")}},
             "added and removed"},
        Case{"TwoBlobsOfOnePuffin",
             {.operation = "delete",
              .added_delete_files = {{Dv("p", 4, "a")}, {Dv("p", 44, "b")}},
              .removed_delete_files = {Dv("p", 84, "a")}},
             nullptr},
        Case{"TheSameBlobTwice",
             {.operation = "delete", .added_delete_files = {{Dv("p", 4, "a")}, {Dv("p", 4, "a")}}},
             "added twice"},
        Case{"TwoDvsForOneFile",
             {.operation = "delete", .added_delete_files = {{Dv("p", 4, "a")}, {Dv("q", 4, "a")}}},
             "adds two deletion vectors for a: merge them into one first"},
        Case{"DvOfNoFile",
             {.operation = "delete", .added_delete_files = {{NamelessDv()}}},
             "names no data file"},
        Case{"DvOfAFileThatGoes",
             {.operation = "overwrite",
              .added_delete_files = {{Dv("p", 4, "a")}},
              .removed_data_files = {Data("a")}},
             "adds deletes for a, which the same update removes"}),
    [](const auto& test) { return test.param.name; });

TableMetadata Metadata(int version) {
  TableMetadata metadata;
  metadata.format_version = version;
  metadata.partition_specs = {{.id = SpecId(0), .fields = {}}};
  metadata.refs["keep"] = {.snapshot_id = SnapshotId(1), .kind = SnapshotRef::Kind::kTag};
  return metadata;
}

SnapshotUpdate Adding(DataFile deletes) {
  return {.operation = "delete", .added_delete_files = {{std::move(deletes)}}};
}

struct FitCase {
  const char* name;
  int version;
  SnapshotUpdate update;
  std::function<void(TableMetadata&)> change;
  std::optional<Code> code;
};

class UpdateFitsTest : public ::testing::TestWithParam<FitCase> {};

TEST_P(UpdateFitsTest, Decides) {
  TableMetadata metadata = Metadata(GetParam().version);
  if (GetParam().change) GetParam().change(metadata);
  const Status fits = CheckUpdateFits(GetParam().update, metadata);
  if (GetParam().code) {
    EXPECT_THAT(fits, HasCode(*GetParam().code));
  } else {
    EXPECT_THAT(fits, IsOk());
  }
}

SnapshotUpdate OfUnknownSpec() {
  DataFile file = Data("a");
  file.spec_id = SpecId(9);
  return {.added_data_files = {{file}}};
}

SnapshotUpdate OfTooManyPartitionValues() {
  DataFile file = Data("a");
  file.partition = {Literal(std::int32_t{1})};
  return {.added_data_files = {{file}}};
}

INSTANTIATE_TEST_SUITE_P(
    Table, UpdateFitsTest,
    ::testing::Values(
        FitCase{"PlainV1", 1, {.added_data_files = {{Data("a")}}}, {}, {}},
        FitCase{"DeletesInV1", 1, Adding(PositionDeletes("d")), {}, Code::kInvalidArgument},
        FitCase{"PositionDeletesInV2", 2, Adding(PositionDeletes("d")), {}, {}},
        FitCase{"DvInV2", 2, Adding(Dv("p", 4, "a")), {}, Code::kInvalidArgument},
        FitCase{"DvInV3", 3, Adding(Dv("p", 4, "a")), {}, {}},
        FitCase{"PositionDeletesInV3", 3, Adding(PositionDeletes("d")), {}, Code::kInvalidArgument},
        FitCase{"NewerFormat", 4, {}, {}, Code::kUnsupported},
        FitCase{"Encrypted",
                3,
                {},
                [](TableMetadata& metadata) { metadata.encryption_keys = "[{\"key-id\":\"k\"}]"; },
                Code::kUnsupported},
        FitCase{"NewBranch", 2, {.branch = "audit"}, {}, {}},
        FitCase{"Tag", 2, {.branch = "keep"}, {}, Code::kInvalidArgument},
        FitCase{"NoBranch", 2, {.branch = ""}, {}, Code::kInvalidArgument},
        FitCase{"UnknownSpec", 2, OfUnknownSpec(), {}, Code::kInvalidArgument},
        FitCase{
            "PartitionOfAnotherLength", 2, OfTooManyPartitionValues(), {}, Code::kInvalidArgument}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
