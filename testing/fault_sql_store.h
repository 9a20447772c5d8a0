#pragma once

/// \file testing/fault_sql_store.h
/// Counts the calls to a database and makes some of them fail.

#include <functional>
#include <memory>
#include <utility>

#include "database/sql_store.h"

namespace icewright {

enum class SqlFault {
  kNone,
  kAway,        ///< Nothing was done: kUnavailable.
  kLostAnswer,  ///< It was done, but nobody knows: kCommitUnknown (a query: kUnavailable).
};

/// Asks `fault` with the number of the call, from 0. Single-threaded.
class FaultSqlStore final : public SqlStore {
 public:
  FaultSqlStore(std::shared_ptr<SqlStore> store, std::function<SqlFault(int)> fault)
      : store_(std::move(store)), fault_(std::move(fault)) {}

  SqlDialect dialect() const override { return store_->dialect(); }
  std::string Display() const override { return store_->Display(); }

  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    std::span<const SqlValue> values) override {
    if (fault_(calls_++) != SqlFault::kNone) return Error(Code::kUnavailable, "injected");
    return store_->Query(sql, values);
  }

  Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) override {
    const SqlFault fault = fault_(calls_++);
    if (fault == SqlFault::kAway) return Error(Code::kUnavailable, "injected");
    auto done = store_->Execute(sql, values);
    if (fault == SqlFault::kLostAnswer) return Error(Code::kCommitUnknown, "injected");
    return done;
  }

  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override {
    if (fault_(calls_++) != SqlFault::kNone) return Error(Code::kUnavailable, "injected");
    return store_->ColumnsOf(table);
  }

  int calls() const { return calls_; }

 private:
  std::shared_ptr<SqlStore> store_;
  std::function<SqlFault(int)> fault_;
  int calls_ = 0;
};

}  // namespace icewright
