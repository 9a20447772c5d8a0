#pragma once

/// \file manifest/record_reader.h
/// Turns a writer's Avro schema into a plan that fills rows: columns are found by field id (by name
/// where the writer gives none), unions may have either order, unknown columns are passed over.
///
/// Compiled once per file, so that the loop over records decides nothing.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/value_reader.h"

namespace icewright::manifest_internal {

struct RecordOptions {
  int version = 2;      ///< Format version, for which columns may not be missing.
  bool metrics = true;  ///< Else metric columns are passed over.
  ReadContext context = {};
};

/// Reads records into Rows. Borrows the writer's schema. Immutable.
template <typename Row>
class RecordReader {
 public:
  /// Errors: kCorrupt for a missing or unfit column, naming it.
  template <typename C, std::size_t N>
  static Result<RecordReader> Compile(const avro::Schema& schema, const C (&columns)[N],
                                      const RecordOptions& options) {
    if (schema.kind != avro::Kind::kRecord) return WrongKind(options.context, "a record");
    RecordReader reader;
    std::set<int> found;
    for (const avro::RecordField& field : schema.fields) {
      const auto column = std::ranges::find_if(columns, [&](const C& c) {
        return field.field_id ? *field.field_id == c.id : field.name == c.name;
      });
      const bool known = column != std::end(columns);
      if (known && !found.insert(column->id).second) {
        return Error(Code::kCorrupt, "column " + field.name + " is there twice");
      }
      if (!known) reader.unknown_fields_.push_back(&field);
      if (!known || (column->metric && !options.metrics)) {
        reader.steps_.push_back({.skip = CompileSkip(*field.schema)});
      } else {
        IW_TRY(reader.AddStep(*field.schema, *column, options));
      }
      if (known && column->metric && !options.metrics) found.erase(column->id);
    }
    for (const C& column : columns) {
      if (found.contains(column.id)) continue;
      const bool skipped = column.metric && !options.metrics;
      if (!skipped && column.essential()) {
        return Error(Code::kCorrupt, "column " + std::string(column.name) + " is missing");
      }
      std::visit([&](auto member) { reader.absent_.push_back(ClearOf(member)); }, column.member);
    }
    return reader;
  }

  void Read(Input& in, Row& row) const {
    for (const auto& clear : absent_) clear(row);
    for (const Step& step : steps_) {
      if (step.skip) {
        step.skip(in);
      } else if (step.nullable.ReadPresence(in)) {
        step.read(in, row);
      } else if (step.essential) {
        in.Reject(Error(Code::kCorrupt, "column " + std::string(step.name) + " is null"));
      } else {
        step.clear(row);
      }
    }
  }

  const std::vector<const avro::RecordField*>& unknown_fields() const { return unknown_fields_; }

 private:
  struct Step {
    std::function<void(Input&)> skip = {};  // set: the value is not wanted
    Nullable nullable = {};
    ValueReader<Row> read = {};
    std::function<void(Row&)> clear = {};
    std::string_view name = {};
    bool essential = false;
  };

  template <typename T>
  static std::function<void(Row&)> ClearOf(T Row::*member) {
    return [member](Row& row) { row.*member = T{}; };
  }

  template <typename C>
  Status AddStep(const avro::Schema& schema, const C& column, const RecordOptions& options) {
    Step step{.name = column.name, .essential = column.essential()};
    IW_ASSIGN(step.nullable, Nullable::Of(schema, column.name));
    ReadContext context = options.context;
    context.column = column.name;
    context.key_id = column.key_id;
    context.value_id = column.value_id;
    IW_TRY(std::visit(
        [&]<typename T>(T Row::*member) -> Status {
          step.clear = ClearOf(member);
          if (step.nullable.value == nullptr) return {};
          IW_ASSIGN(auto read, CompileValue<T>(*step.nullable.value, context));
          step.read = [read, member](Input& in, Row& row) { read(in, row.*member); };
          return {};
        },
        column.member));
    steps_.push_back(std::move(step));
    return {};
  }

  std::vector<Step> steps_;
  std::vector<std::function<void(Row&)>> absent_;
  std::vector<const avro::RecordField*> unknown_fields_;
};

}  // namespace icewright::manifest_internal
