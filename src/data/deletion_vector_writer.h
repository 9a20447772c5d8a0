#pragma once

/// \file data/deletion_vector_writer.h
/// Deletion vectors of many data files in one Puffin file.
///
/// Spec: "Deletion Vectors", Puffin.   Java twin: BaseDVFileWriter.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/position_bitmap.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "table/metadata.h"

namespace icewright {

/// Single-threaded. Destruction without Finish removes the file. Memory: one vector at a time, and
/// about 400 bytes for each that was added.
class DeletionVectorWriter {
 public:
  /// The file is made with the first vector, at a new data location of the table.
  DeletionVectorWriter(const TableMetadata& metadata, std::shared_ptr<FileIO> io,
                       std::string operation_id);
  DeletionVectorWriter(DeletionVectorWriter&&) noexcept;
  ~DeletionVectorWriter();

  /// `positions`: all deleted rows of the data file, not empty; one call for each data file.
  /// Errors: kUnsupported for a vector of 2 GiB, those of io.
  Status Add(const DataFile& data_file, const PositionBitmap& positions);

  /// Closes the file; the manifest entries of its vectors in the order of Add, none without a
  /// vector. They have the data file's spec and partition.
  Result<std::vector<DataFile>> Finish();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
