#pragma once

/// \file data/splice/schema.h
/// The leaf columns of a Parquet schema.

#include <vector>

#include "data/splice/format.h"

namespace icewright::splice {

/// `schema`: the encoded list of SchemaElement. Errors: kCorrupt.
Result<std::vector<Leaf>> ParseLeaves(ByteView schema);

}  // namespace icewright::splice
