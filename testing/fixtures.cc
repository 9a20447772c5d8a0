#include "testing/fixtures.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include "io/local_file_io.h"
#include "testing/paths.h"
#include "testing/prefix_mapped_file_io.h"

extern char** environ;

namespace icewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArchives[] = {"iceberg-fixtures.tar.zst", "iceberg-fixtures-others.tar.zst"};

[[noreturn]] void Die(const std::string& message) {
  std::cerr << "fixtures: " << message << "\n";
  std::abort();
}

std::string ArchivePath(const char* name) { return SourceFolder() + "/test/golden/" + name; }

// Names the archives' versions, so that a new archive is unpacked anew.
std::string VersionKey() {
  std::string key;
  for (const char* name : kArchives) {
    std::error_code ec;
    const auto size = fs::file_size(ArchivePath(name), ec);
    if (ec) Die("cannot read " + ArchivePath(name) + ": " + ec.message());
    const auto modified = fs::last_write_time(ArchivePath(name), ec).time_since_epoch().count();
    key += "-" + std::to_string(size) + "-" + std::to_string(modified);
  }
  return key;
}

void Unpack(const std::string& archive, const std::string& folder) {
  const char* const argv[] = {"tar",          "--zstd",          "-xf",  archive.c_str(), "-C",
                              folder.c_str(), "--no-same-owner", nullptr};
  pid_t pid = 0;
  int status = 0;
  if (::posix_spawnp(&pid, "tar", nullptr, nullptr, const_cast<char* const*>(argv), environ) != 0 ||
      ::waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    Die("tar --zstd -xf " + archive + " failed");
  }
}

std::string MakeFixtureRoot() {
  const std::string build = BuildFolder();
  const std::string done = build + "/fixtures" + VersionKey();
  const std::string root = done + "/iceberg-fixtures";
  std::error_code ec;
  fs::create_directories(build, ec);
  // Test programs start at the same time: one unpacks, the others wait for its rename.
  const int lock = ::open((build + "/fixtures.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0 || ::flock(lock, LOCK_EX) != 0) Die("cannot lock " + build + "/fixtures.lock");
  if (!fs::exists(done, ec)) {
    const std::string fresh = build + "/fixtures.unpacking";
    fs::remove_all(fresh, ec);
    fs::create_directories(fresh, ec);
    if (ec) Die("cannot make " + fresh + ": " + ec.message());
    for (const char* name : kArchives) Unpack(ArchivePath(name), fresh);
    fs::rename(fresh, done, ec);
    if (ec) Die("cannot rename " + fresh + ": " + ec.message());
  }
  ::close(lock);
  return root;
}

std::vector<std::string> SubFolders(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    if (entry.is_directory(ec)) names.push_back(entry.path().filename().string());
  }
  if (ec) Die("cannot list " + folder + ": " + ec.message());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Fixture> FindFixtures() {
  std::vector<Fixture> fixtures;
  for (const char* ns : {"fx", "jd", "ot"}) {
    for (const std::string& name : SubFolders(FixtureRoot() + "/" + ns)) {
      const std::string relative = std::string(ns) + "/" + name;
      std::error_code ec;
      fixtures.push_back({.ns = ns,
                          .name = name,
                          .location = Location(std::string(kRecordedFixtureRoot)).Child(relative),
                          .in_file_system_catalog = fs::exists(
                              FixtureRoot() + "/" + relative + "/metadata/version-hint.text", ec)});
    }
  }
  return fixtures;
}

std::shared_ptr<FileIO> MappedTo(const std::string& root, MappedAccess access) {
  const std::string recorded(kRecordedFixtureRoot);
  const std::string path = recorded.substr(recorded.find('/'));
  return MakePrefixMappedFileIO(MakeLocalFileIO(),
                                {{recorded, root}, {"file://" + path, root}, {path, root}}, access);
}

void CopyFile(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  fs::copy_file(from, to, ec);
  if (!ec) fs::last_write_time(to, fs::last_write_time(from, ec), ec);
  if (ec) Die("cannot copy " + from.string() + ": " + ec.message());
}

void CopyFolder(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  fs::create_directories(to, ec);
  for (const auto& entry : fs::recursive_directory_iterator(from, ec)) {
    const fs::path target = to / fs::relative(entry.path(), from, ec);
    if (entry.is_directory(ec)) {
      fs::create_directories(target, ec);
    } else {
      CopyFile(entry.path(), target);
    }
  }
  if (ec) Die("cannot copy " + from.string() + ": " + ec.message());
}

}  // namespace

std::string Fixture::ExpectedPath(std::string_view file) const {
  return FixtureRoot() + "/expected/" + (ns == "ot" ? "ot_" : "") + name + "/" + std::string(file);
}

const std::string& FixtureRoot() {
  static const std::string root = MakeFixtureRoot();
  return root;
}

const std::vector<Fixture>& ListFixtures() {
  static const std::vector<Fixture> fixtures = FindFixtures();
  return fixtures;
}

const Fixture& FindFixture(std::string_view name) {
  for (const Fixture& fixture : ListFixtures()) {
    if (fixture.name == name) return fixture;
  }
  Die("there is no table '" + std::string(name) + "'");
}

std::shared_ptr<FileIO> FixtureIO() {
  static const std::shared_ptr<FileIO> io = MappedTo(FixtureRoot(), MappedAccess::kReadOnly);
  return io;
}

std::string ReadExpected(const Fixture& fixture, std::string_view file) {
  std::ifstream in(fixture.ExpectedPath(file), std::ios::binary);
  if (!in) Die("cannot read " + fixture.ExpectedPath(file));
  return {std::istreambuf_iterator<char>(in), {}};
}

FixtureCopy::FixtureCopy(std::string_view name) : fixture_(&FindFixture(name)) {
  const std::string relative = "/" + fixture_->ns + "/" + fixture_->name;
  CopyFolder(FixtureRoot() + relative, root() + relative);
  for (const char* database : {"/catalog.db", "/ot.db"}) {
    CopyFile(FixtureRoot() + database, root() + database);
  }
  io_ = MappedTo(root(), MappedAccess::kReadWrite);
}

}  // namespace icewright
