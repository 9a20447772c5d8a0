#pragma once

/// \file manifest/partition_codec.h
/// Partition tuples in Avro: the record r102 of manifests.
///
/// Spec: "Manifests", field 102; "Appendix A: Avro".

#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json_fwd.h"
#include "manifest/value_reader.h"
#include "table/metadata.h"
#include "table/partition_spec.h"
#include "table/type.h"

namespace icewright {

/// The schema that a spec's source columns are in: the current one, or, where it has dropped one of
/// them, the newest older schema that still has them all. With it partition values keep their type.
const Schema& PartitionSchemaOf(const TableMetadata& metadata, const PartitionSpec& spec);

namespace manifest_internal {

/// Reads tuples by partition field id into the order of `spec`; promoted types are widened. A field
/// of unknown type keeps the value as the writer stored it. Errors: kCorrupt for types that do not
/// fit. Borrows `writer`.
Result<ValueReader<StructValue>> CompilePartitionReader(const avro::Schema& writer,
                                                        const PartitionSpec& spec,
                                                        const Type& partition_type);

/// The Avro schema of tuples of this struct.
Json PartitionAvroSchema(const Type& partition_type);

/// Errors: kInvalidArgument for a tuple that is not of this struct.
Status CheckPartition(const Type& partition_type, const StructValue& partition);

/// Precondition: CheckPartition.
void WritePartition(avro::Encoder& out, const Type& partition_type, const StructValue& partition);

/// A name that Avro allows, as Java makes it: other characters become _x and hex digits.
std::string AvroName(std::string_view name);

}  // namespace manifest_internal
}  // namespace icewright
