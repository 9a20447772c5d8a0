#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <openssl/evp.h>

#include <algorithm>
#include <mutex>

#include "base/executor.h"
#include "data/arrow_bridge.h"
#include "data/batch_reader.h"
#include "data/row_scan.h"
#include "data/row_text.h"

namespace icewright {
namespace {

/// SHA-256 of many short texts. Single-threaded.
class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()), algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)) {}
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
  }

  bool ok() const { return ok_ && context_ != nullptr && algorithm_ != nullptr; }

  /// The first eight bytes, big endian.
  std::uint64_t Of(std::string_view text) {
    unsigned char hash[EVP_MAX_MD_SIZE];
    ok_ = ok_ && EVP_DigestInit_ex2(context_, algorithm_, nullptr) == 1 &&
          EVP_DigestUpdate(context_, text.data(), text.size()) == 1 &&
          EVP_DigestFinal_ex(context_, hash, nullptr) == 1;
    if (!ok_) return 0;
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) out = out << 8 | hash[i];
    return out;
  }

 private:
  EVP_MD_CTX* context_;
  EVP_MD* algorithm_;
  bool ok_ = true;
};

/// The table's columns, and in v3 the lineage columns after them.
Schema DigestSchema(const TableMetadata& metadata) {
  std::vector<Field> fields = metadata.schema().fields();
  if (metadata.format_version >= 3) {
    fields.push_back({.id = kRowIdField, .name = "_row_id", .type = Type::Of(TypeId::kLong)});
    fields.push_back({.id = kLastUpdatedSequenceNumberField,
                      .name = "_last_updated_sequence_number",
                      .type = Type::Of(TypeId::kLong)});
  }
  return Schema(std::move(fields));
}

struct Sums {
  std::int64_t rows = 0;
  std::uint64_t digest = 0;
  std::uint64_t lineage = 0;
};

/// `own_columns`: how many of the batch's columns are the table's; lineage columns follow.
void AddBatch(const Schema& schema, std::size_t own_columns, const arrow::RecordBatch& batch,
              Sha256& sha, std::string& text, Sums& sums) {
  const RowText rows(schema.fields(), batch);
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    text.clear();
    rows.Append(row, 0, own_columns, text);
    sums.digest += sha.Of(text);
    if (own_columns == schema.fields().size()) continue;
    rows.Append(row, own_columns, schema.fields().size(), text);
    sums.lineage += sha.Of(text);
  }
  sums.rows += batch.num_rows();
}

}  // namespace

Result<RowDigest> DigestRows(RunContext& run, FileIO& io, const TableMetadata& metadata,
                             const std::vector<FileTask>& tasks) {
  // Borrowed: everything here ends before the call does.
  const std::shared_ptr<FileIO> shared_io(std::shared_ptr<void>(), &io);
  const std::shared_ptr<const TableMetadata> shared_metadata(std::shared_ptr<void>(), &metadata);
  const std::size_t own_columns = metadata.schema().fields().size();
  IW_ASSIGN(auto plan, MakeReadPlan(shared_metadata, DigestSchema(metadata)));
  const auto deletes = MakeDeleteCache(plan, shared_io);
  const auto pool = MakePool(run);
  std::mutex mutex;
  Sums total;
  const auto digest_file = [&](std::size_t i) -> Status {
    IW_ASSIGN(auto reader, OpenTask(run, plan, shared_io, deletes, tasks[i], pool));
    Sha256 sha;
    std::string text;
    Sums sums;
    for (;;) {
      IW_ASSIGN(auto batch, reader->Next(run));
      if (batch == nullptr) break;
      AddBatch(plan->projection, own_columns, *batch, sha, text, sums);
    }
    if (!sha.ok()) return Error(Code::kInternal, "SHA-256 is not available");
    const std::scoped_lock lock(mutex);
    total.rows += sums.rows;
    total.digest += sums.digest;
    total.lineage += sums.lineage;
    return {};
  };
  IW_TRY(ParallelFor(run, tasks.size(), run.threads(), digest_file));
  RowDigest out{.rows = total.rows, .digest = total.digest};
  if (metadata.format_version >= 3) out.lineage_digest = total.lineage;
  return out;
}

}  // namespace icewright
