#pragma once

/// \file maintain/stored_key_places.h
/// Where keys are, kept on the local disk from run to run, in RocksDB.
///
/// What is stored about a data file depends on nothing but the file: an index cannot be wrong about
/// a table, only know too little, or files that are gone. It needs no part in a commit.

#include <memory>
#include <string>

#include "base/result.h"
#include "base/run_context.h"
#include "maintain/convert_equality_deletes_options.h"
#include "maintain/key_places.h"
#include "table/metadata.h"

namespace icewright {

struct OpenedKeyPlaces {
  std::unique_ptr<KeyPlaces> places;
  std::string note = {};  ///< What a person should know; empty: nothing.
};

/// The index of the table and the target branch below settings.index_path, made if need be. One of
/// another table or layout, a damaged one, or one that is mostly about files that are gone is
/// removed and begun anew, as with `rebuild`; the note says so. Takes its caches from the run's
/// budget; the run outlives it. Errors: kLockHeld (another process has it open), kDenied, kIo,
/// kExhausted.
Result<OpenedKeyPlaces> OpenStoredKeyPlaces(RunContext& run, const ConvertSettings& settings,
                                            const TableMetadata& metadata,
                                            const std::string& layout, bool rebuild = false);

}  // namespace icewright
