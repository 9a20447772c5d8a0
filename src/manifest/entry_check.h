#pragma once

/// \file manifest/entry_check.h
/// May this file, this entry be in a manifest of that kind? Shared by the writers.

#include "base/result.h"
#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "table/type.h"

namespace icewright::manifest_internal {

/// Errors: kUnsupported for a version that this build does not write, and deletes in version 1.
Status CheckManifestKind(int format_version, ManifestContent content);

/// Errors: kInvalidArgument (content, spec, tuple), kUnsupported (a DV below version 3).
Status CheckEntryFile(const DataFile& file, int format_version, ManifestContent content,
                      SpecId spec_id, const Type& partition_type);

/// Errors: kInvalidArgument without a snapshot id or data sequence number.
Status CheckExisting(const ManifestEntry& entry);

}  // namespace icewright::manifest_internal
