#pragma once

/// \file testing/answering_operations.h
/// A table whose commit takes effect and is answered with an error all the same.

#include <memory>
#include <optional>
#include <utility>

#include "catalog/table.h"

namespace icewright {

/// Answers the first commit with `answer`, which says nothing about its outcome. Single-threaded.
class AnsweringOperations final : public TableOperations {
 public:
  AnsweringOperations(Table table, Error answer)
      : table_(std::move(table)), answer_(std::move(answer)) {}

  Result<TableState> Load(RunContext& run) override { return table_.operations().Load(run); }

  Result<TableState> Commit(RunContext& run, const TableState& base,
                            std::span<const TableRequirement> requirements,
                            std::span<const TableUpdate> updates) override {
    IW_ASSIGN(TableState after, table_.operations().Commit(run, base, requirements, updates));
    if (answer_) return *std::exchange(answer_, std::nullopt);
    return after;
  }

 private:
  const Table table_;
  std::optional<Error> answer_;
};

inline Table AnswerCommitWith(const Table& table, Error answer) {
  return {table.name(), std::make_shared<AnsweringOperations>(table, std::move(answer)),
          table.shared_io(), table.state()};
}

}  // namespace icewright
