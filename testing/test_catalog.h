#pragma once

/// \file testing/test_catalog.h
/// Catalogs on files in memory, all of whose calls a FaultFileIO sees: one failure sweep covers
/// files and pointer.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalog/filesystem/filesystem_catalog.h"
#include "catalog/memory/memory_catalog.h"
#include "catalog/sql/sql_catalog.h"
#include "database/sql_store.h"
#include "io/file_io.h"

namespace icewright {

/// Asks `io` before and after each statement; an error of it is the statement's. Of a change that
/// took effect the answer is then lost: kCommitUnknown. Thread-safe.
class FaultSqlStore final : public SqlStore {
 public:
  FaultSqlStore(std::shared_ptr<SqlStore> base, std::shared_ptr<FileIO> io)
      : base_(std::move(base)), io_(std::move(io)) {}

  SqlDialect dialect() const override { return base_->dialect(); }
  std::string Display() const override { return base_->Display(); }

  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    std::span<const SqlValue> values) override {
    IW_TRY(Touch());
    auto rows = base_->Query(sql, values);
    IW_TRY(Touch());
    return rows;
  }

  Result<std::int64_t> Execute(std::string_view sql, std::span<const SqlValue> values) override {
    IW_TRY(Touch());
    auto changed = base_->Execute(sql, values);
    if (Status answered = Touch(); !answered) {
      return Error(Code::kCommitUnknown, answered.error().message());
    }
    return changed;
  }

  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override {
    return base_->ColumnsOf(table);
  }

 private:
  Status Touch() {
    const auto answer = io_->Exists(Location("memory:/database"));
    return answer ? Status() : Status(answer.error());
  }

  std::shared_ptr<SqlStore> base_;
  std::shared_ptr<FileIO> io_;
};

/// kSql: SQLite, in memory as well.
enum class TestCatalog : std::uint8_t { kMemory, kFileSystem, kSql };

/// `hooks` are the memory catalog's.
inline Result<std::shared_ptr<Catalog>> OpenTestCatalog(TestCatalog kind, const Location& warehouse,
                                                        std::shared_ptr<FileIO> io,
                                                        MemoryCatalogHooks hooks = {}) {
  switch (kind) {
    case TestCatalog::kMemory:
      return MakeMemoryCatalog("mem", warehouse, std::move(io), {}, std::move(hooks));
    case TestCatalog::kFileSystem:
      return MakeFilesystemCatalog("files", warehouse, std::move(io));
    case TestCatalog::kSql:
      break;
  }
  IW_ASSIGN(const SqlUrl url, ParseSqlUrl("jdbc:sqlite::memory:", {}));
  IW_ASSIGN(auto store, OpenSqliteStore(url, {}));
  return MakeSqlCatalog("sql", {{"warehouse", warehouse.text()}},
                        std::make_shared<FaultSqlStore>(std::move(store), io), io);
}

}  // namespace icewright
