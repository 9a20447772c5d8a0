#pragma once

/// \file testing/fixtures.h
/// The tables in test/golden/, written by other engines, with what is expected of them.
///
///   for (const Fixture& f : ListFixtures()) OpenTableAt(run, f.location, FixtureIO());
///   FixtureCopy copy("append_v2");            // a private copy that a test may change
///   OpenTableAt(run, copy.location(), copy.io());

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_io.h"
#include "testing/temp_folder.h"

namespace icewright {

/// Where the fixtures were recorded: their metadata has locations below it.
inline constexpr std::string_view kRecordedFixtureRoot = "file:/tmp/iceberg-fixtures";

struct Fixture {
  std::string ns;     ///< "fx", "jd" or "ot": the folder, and the namespace in its catalog.
  std::string name;   ///< "append_v2"; unique over all namespaces.
  Location location;  ///< As recorded: "file:/tmp/iceberg-fixtures/fx/append_v2".

  /// True for tables of the file-system catalog; the others are named by an SQL catalog.
  bool in_file_system_catalog = false;

  /// A file of expected/NAME on disk, "expected.json" or "after-TASK.json".
  std::string ExpectedPath(std::string_view file = "expected.json") const;
};

/// The folder on disk that the archives were unpacked to, in the build folder, once for all test
/// programs. Never change anything in it. Aborts the test program if it cannot be made.
const std::string& FixtureRoot();

/// All tables, sorted by namespace and name.
const std::vector<Fixture>& ListFixtures();

/// Aborts the test program if there is none of that name.
const Fixture& FindFixture(std::string_view name);

/// Reads recorded locations from FixtureRoot(); writing there is kDenied. Other local locations
/// pass.
std::shared_ptr<FileIO> FixtureIO();

/// The text of an expected file. Aborts the test program if it is missing.
std::string ReadExpected(const Fixture& fixture, std::string_view file = "expected.json");

/// A private copy of one table, with the times of its files, and of the SQL catalogs' databases.
class FixtureCopy {
 public:
  explicit FixtureCopy(std::string_view name);

  const Fixture& fixture() const { return *fixture_; }
  const Location& location() const { return fixture_->location; }

  /// Maps recorded locations to the copy, for reading and writing.
  const std::shared_ptr<FileIO>& io() const { return io_; }

  /// The copy of the recorded root on disk: has NS/NAME, catalog.db and ot.db.
  const std::string& root() const { return folder_.path(); }

  /// The table's folder on disk.
  std::string table_path() const { return root() + "/" + fixture_->ns + "/" + fixture_->name; }

 private:
  TempFolder folder_;
  const Fixture* fixture_;
  std::shared_ptr<FileIO> io_;
};

}  // namespace icewright
