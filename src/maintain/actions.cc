#include "icewright/actions.h"

#include <algorithm>
#include <utility>

#include "maintain/delete_orphan_files.h"
#include "maintain/rewrite_data_files.h"

namespace icewright {
namespace {

constexpr std::int64_t kDefaultSplitSize = std::int64_t{128} << 20;

}  // namespace

RewriteDataFilesAction::RewriteDataFilesAction(Table table) : table_(std::move(table)) {
  options_.use_starting_sequence_number = false;
}

RewriteDataFilesAction& RewriteDataFilesAction::Filter(std::string filter) {
  options_.filter = std::move(filter);
  return *this;
}

RewriteDataFilesAction& RewriteDataFilesAction::CaseSensitive(bool case_sensitive) {
  options_.case_sensitive = case_sensitive;
  return *this;
}

RewriteDataFilesAction& RewriteDataFilesAction::OutputSpecId(int spec_id) {
  options_.output_spec_id = spec_id;
  return *this;
}

RewriteDataFilesAction& RewriteDataFilesAction::TargetSizeInBytes(std::int64_t bytes) {
  options_.target_file_size_bytes = bytes;
  return *this;
}

RewriteDataFilesAction& RewriteDataFilesAction::UseStartingSequenceNumber(bool use) {
  options_.use_starting_sequence_number = use;
  return *this;
}

RewriteDataFilesAction& RewriteDataFilesAction::Option(std::string_view key,
                                                       std::string_view value) {
  Status set = SetField(RewriteDataFilesFields(), key, value, options_);
  if (!set && bad_option_) bad_option_ = set;
  return *this;
}

Result<TaskReport> RewriteDataFilesAction::Execute(RunContext& run) {
  IW_TRY(bad_option_);
  IW_TRY(table_.Refresh(run));
  RewriteDataFilesOptions options = options_;
  if (!options.target_file_size_bytes) {
    const Properties& properties = table_.metadata().properties;
    IW_ASSIGN(const std::int64_t split,
              IntProperty(properties, "read.split.target-size", kDefaultSplitSize));
    IW_ASSIGN(const std::int64_t write,
              IntProperty(properties, "write.target-file-size-bytes", kDefaultTargetFileSizeBytes));
    options.target_file_size_bytes = std::min(split, write);
  }
  TaskReport report;
  IW_TRY(RewriteDataFiles(std::move(options)).Execute(run, table_, report));
  return report;
}

// ---- DeleteOrphanFilesAction

DeleteOrphanFilesAction& DeleteOrphanFilesAction::Location(std::string location) {
  options_.location = std::move(location);
  return *this;
}

DeleteOrphanFilesAction& DeleteOrphanFilesAction::MinAge(Milliseconds age) {
  options_.min_age = age.count();
  return *this;
}

DeleteOrphanFilesAction& DeleteOrphanFilesAction::UsePrefixListing(bool use) {
  options_.use_prefix_listing = use;
  return *this;
}

DeleteOrphanFilesAction& DeleteOrphanFilesAction::PrefixMismatchMode(std::string mode) {
  options_.prefix_mismatch_mode = std::move(mode);
  return *this;
}

DeleteOrphanFilesAction& DeleteOrphanFilesAction::CompareToFileList(FileListing files) {
  files_ = std::move(files);
  return *this;
}

DeleteOrphanFilesAction& DeleteOrphanFilesAction::DryRun(bool dry_run) {
  options_.dry_run = dry_run;
  return *this;
}

DeleteOrphanFilesAction& DeleteOrphanFilesAction::Option(std::string_view key,
                                                         std::string_view value) {
  Status set = SetField(DeleteOrphanFilesFields(), key, value, options_);
  if (!set && bad_option_) bad_option_ = set;
  return *this;
}

Result<TaskReport> DeleteOrphanFilesAction::Execute(RunContext& run) {
  IW_TRY(bad_option_);
  TaskReport report;
  IW_TRY(icewright::DeleteOrphanFiles(options_, files_).Execute(run, table_, report));
  return report;
}

}  // namespace icewright
