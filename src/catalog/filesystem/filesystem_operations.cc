#include "catalog/filesystem/filesystem_operations.h"

#include <fmt/format.h>

#include <utility>

#include "catalog/filesystem/version_files.h"
#include "io/local_file_io.h"

namespace icewright {
namespace {

// A version may be deleted between finding and reading it, when others commit.
constexpr int kLoadAttempts = 5;

std::string ComparableFolder(const Location& location) {
  if (const auto path = LocalPathOf(location)) return WithoutTrailingSlash(*path);
  std::string text = WithoutTrailingSlash(location.text());
  for (const std::string_view scheme : {"s3a://", "s3n://"}) {
    if (text.starts_with(scheme)) return "s3://" + text.substr(scheme.size());
  }
  return text;
}

// Did the file that storage reported an error about become version N all the same?
enum class Landing { kOurs, kAnothers, kNothing, kUnknown };

Landing LookAtVersion(FileIO& io, const Location& location, ByteView bytes) {
  const auto found = ReadFile(io, location);
  if (found) return *found == bytes ? Landing::kOurs : Landing::kAnothers;
  return found.error().code() == Code::kNotFound ? Landing::kNothing : Landing::kUnknown;
}

Status CheckCommittable(const TableMetadata& before, const TableMetadata& after,
                        const std::string& name) {
  if (before.location != after.location) {
    return Error(Code::kUnsupported, name + ": a file-system table cannot change its location");
  }
  if (after.Property(kWriteMetadataPath)) {
    return Error(Code::kUnsupported,
                 fmt::format("{}: a file-system table cannot have {}", name, kWriteMetadataPath));
  }
  return {};
}

std::string CopyReason(const Location& here, const std::string& home) {
  return fmt::format(
      "{} is a copy: its metadata says that the table lives at {}; a commit here would change that "
      "table's files",
      here.text(), home);
}

}  // namespace

bool IsSameFolder(const Location& a, const Location& b) {
  return ComparableFolder(a) == ComparableFolder(b);
}

Location FilesystemOperations::MetadataFolder(const TableMetadata& metadata) const {
  const bool same = IsSameFolder(metadata.location, location_);
  return (same ? metadata.location : location_).Child("metadata");
}

Result<TableState> FilesystemOperations::LoadCurrent(RunContext& run) {
  for (int attempt = 1;; ++attempt) {
    IW_ASSIGN(const auto current, FindCurrentVersion(*io_, location_.Child("metadata")));
    if (!current) {
      return Error(Code::kNotFound, fmt::format("there is no table {}: no vN.metadata.json in {}",
                                                name_, location_.Child("metadata").text()));
    }
    Result<TableState> state = ReadTableState(run, *io_, current->location);
    if (state) {
      const Location& home = state->metadata->location;
      {
        const std::scoped_lock lock(mutex_);
        copy_of_ = IsSameFolder(home, location_) ? std::string() : home.text();
      }
      const Location folder = MetadataFolder(*state->metadata);
      state->metadata_location = folder.Child(current->location.file_name());
      return state;
    }
    if (state.error().code() != Code::kNotFound || attempt == kLoadAttempts) return state.error();
  }
}

Result<TableState> FilesystemOperations::Load(RunContext& run) {
  return LoadCurrent(run).Within("load " + name_);
}

Result<TableState> FilesystemOperations::Commit(RunContext& run, const TableState& base,
                                                std::span<const TableRequirement> requirements,
                                                std::span<const TableUpdate> updates) {
  // Read even if `base` has the same file name: a table dropped and made again starts at v1, too.
  IW_ASSIGN(TableState current, LoadCurrent(run));
  const TableMetadata& before = *current.metadata;
  if (!IsSameFolder(before.location, location_)) {
    return Error(Code::kUnsupported, CopyReason(location_, before.location.text()));
  }
  IW_ASSIGN(NextMetadata next, PlanCommit(run, base, current, requirements, updates));
  if (updates.empty()) return current;
  IW_TRY(CheckCommittable(before, next.metadata, name_));
  const auto version = FileSystemVersionOf(current.metadata_location.file_name());
  if (!version) {
    return Error(Code::kInternal, "no version in " + current.metadata_location.text());
  }
  IW_ASSIGN(const Location written, WriteVersion(run, next.metadata, *version + 1));
  DeleteDropped(run, *io_, next);
  return TableState{written, std::make_shared<const TableMetadata>(std::move(next.metadata))};
}

std::string FilesystemOperations::read_only_reason() const {
  const std::scoped_lock lock(mutex_);
  return copy_of_.empty() ? std::string() : CopyReason(location_, copy_of_);
}

Result<TableState> FilesystemOperations::Create(RunContext& run, TableMetadata metadata) {
  IW_TRY(CheckCommittable(metadata, metadata, name_));
  IW_ASSIGN(const auto existing, FindCurrentVersion(*io_, location_.Child("metadata")));
  if (existing) return Error(Code::kAlreadyExists, name_ + " already exists");
  const auto written = WriteVersion(run, metadata, 1);
  if (!written) {
    if (written.error().code() != Code::kConflict) return written.error();
    return Error(Code::kAlreadyExists, name_ + " was created concurrently");
  }
  return TableState{*written, std::make_shared<const TableMetadata>(std::move(metadata))};
}

Result<Location> FilesystemOperations::WriteVersion(RunContext& run, const TableMetadata& metadata,
                                                    int version) {
  IW_ASSIGN(const bool gzip, WantsGzip(metadata.properties));
  IW_ASSIGN(const Bytes bytes, EncodeMetadata(metadata));
  const Location folder = MetadataFolder(metadata);
  const Location location = folder.Child(NamesOfVersion(version)[gzip ? 1 : 0]);
  IW_TRY(run.CheckMayWrite());
  IW_TRY(CheckNoOtherName(folder, version, location));

  const Status written = WriteFile(*io_, location, bytes, CreateMode::kAtomicNew);
  if (!written) {
    const Error& error = written.error();
    // kAlreadyExists, too: NFS and object stores repeat a request whose answer was lost, and then
    // the file that is in the way is our own.
    switch (LookAtVersion(*io_, location, bytes)) {
      case Landing::kOurs:
        break;  // The answer was lost, not the file.
      case Landing::kAnothers:
        return Error(Code::kConflict, fmt::format("{}: another commit was first to make version {}",
                                                  name_, version));
      case Landing::kNothing:
        // A request that timed out may still arrive at an object store; a file that was there a
        // moment ago may have been ours.
        if (error.code() != Code::kUnavailable && error.code() != Code::kAlreadyExists) {
          return error.Within("commit " + name_);
        }
        [[fallthrough]];
      case Landing::kUnknown:
        return Error(Code::kCommitUnknown,
                     fmt::format("it is not known whether {} became the table's metadata: {}",
                                 location.text(), error.message()));
    }
  }
  // The other spellings are other names, so two writers that disagree about compression can both
  // succeed. Each that sees the other gives way.
  if (Status alone = CheckNoOtherName(folder, version, location); !alone) {
    if (alone.error().code() != Code::kConflict) return location;  // Ours stands as far as we know.
    DiscardFile(run, *io_, location);
    return alone.error();
  }
  WriteHint(run, folder, version);
  return location;
}

Status FilesystemOperations::CheckNoOtherName(const Location& folder, int version,
                                              const Location& ours) {
  for (const std::string& name : NamesOfVersion(version)) {
    const Location location = folder.Child(name);
    if (location == ours) continue;
    IW_ASSIGN(const bool exists, io_->Exists(location));
    if (exists) {
      return Error(Code::kConflict,
                   fmt::format("{}: another commit was first to make version {}", name_, version));
    }
  }
  return {};
}

void FilesystemOperations::WriteHint(RunContext& run, const Location& folder, int version) {
  const Location hint = folder.Child(kVersionHint);
  const Status written = WriteFile(*io_, hint, std::to_string(version), CreateMode::kAtomicReplace);
  // Readers go up from an old hint, so the commit stands without it.
  if (!written) {
    run.log().Warning(
        fmt::format("{} was not updated: {}", hint.text(), written.error().message()));
  }
}

}  // namespace icewright
