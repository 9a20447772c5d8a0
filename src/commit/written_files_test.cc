#include "commit/written_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/memory_file_io.h"
#include "testing/fault_file_io.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WrittenFilesTest, NamesAsJavaDoes) {
  WrittenFiles written("uuid");
  const Location folder("s3://b/t/metadata");
  EXPECT_EQ(written.NextManifest(folder).text(), "s3://b/t/metadata/uuid-m0.avro");
  EXPECT_EQ(written.NextManifest(folder).text(), "s3://b/t/metadata/uuid-m1.avro");
  EXPECT_EQ(written.ManifestList(folder, SnapshotId(42), 3).text(),
            "s3://b/t/metadata/snap-42-3-uuid.avro");
}

TEST(WrittenFilesTest, DeletesAllButWhatIsKept) {
  const auto io = MakeMemoryFileIO();
  WrittenFiles written("uuid");
  const Location folder("mem:/t");
  const Location kept = written.NextManifest(folder);
  const Location doomed = written.NextManifest(folder);
  const Location never_written = written.NextManifest(folder);
  for (const Location& file : {kept, doomed}) {
    ASSERT_THAT(WriteFile(*io, file, "x", CreateMode::kNew), IsOk());
  }
  EXPECT_THAT(written.all(), ElementsAre(kept, doomed, never_written));
  EXPECT_THAT(written.DeleteAllBut(*io, {kept}), IsEmpty());
  EXPECT_THAT(io->Exists(kept), IsOkAndHolds(true));
  EXPECT_THAT(io->Exists(doomed), IsOkAndHolds(false));
  EXPECT_THAT(written.all(), IsEmpty());
}

TEST(WrittenFilesTest, TellsWhatCouldNotBeDeleted) {
  FaultFileIO io(MakeMemoryFileIO());
  io.FailFrom(0);
  WrittenFiles written("uuid");
  const Location file = written.NextManifest(Location("mem:/t"));
  EXPECT_THAT(written.DeleteAllBut(io, {}), ElementsAre(file));
}

}  // namespace
}  // namespace icewright
