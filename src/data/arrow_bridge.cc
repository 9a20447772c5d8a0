#include "data/arrow_bridge.h"

#include <arrow/io/interfaces.h>
#include <arrow/util/future.h>
#include <parquet/exception.h>

#include <atomic>
#include <mutex>
#include <new>
#include <span>
#include <string>

namespace icewright {
namespace {

constexpr char kErrorDetail[] = "icewright::Error";

/// Carries one of our errors through Arrow's layers.
class ErrorDetail final : public arrow::StatusDetail {
 public:
  explicit ErrorDetail(Error error) : error_(std::move(error)) {}
  const char* type_id() const override { return kErrorDetail; }
  std::string ToString() const override { return error_.message(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

Code CodeOf(const arrow::Status& status) {
  switch (status.code()) {
    case arrow::StatusCode::OutOfMemory:
    case arrow::StatusCode::CapacityError:
      return Code::kExhausted;
    case arrow::StatusCode::Cancelled:
      return Code::kCancelled;
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::SerializationError:
    case arrow::StatusCode::IndexError:
    case arrow::StatusCode::TypeError:
    case arrow::StatusCode::KeyError:
      return Code::kCorrupt;
    case arrow::StatusCode::NotImplemented:
      return Code::kUnsupported;
    case arrow::StatusCode::IOError:
      return Code::kIo;
    default:
      return Code::kInternal;
  }
}

arrow::StatusCode CodeOf(Code code) {
  switch (code) {
    case Code::kExhausted:
      return arrow::StatusCode::OutOfMemory;
    case Code::kCancelled:
      return arrow::StatusCode::Cancelled;
    case Code::kCorrupt:
    case Code::kInvalidArgument:
      return arrow::StatusCode::Invalid;
    case Code::kUnsupported:
      return arrow::StatusCode::NotImplemented;
    default:
      return arrow::StatusCode::IOError;
  }
}

class BudgetPool final : public arrow::MemoryPool {
 public:
  explicit BudgetPool(MemoryBudget& budget)
      : budget_(budget), base_(*arrow::default_memory_pool()) {}
  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    if (size < 0) return arrow::Status::Invalid("negative allocation of ", size, " bytes");
    if (!budget_.TryTake(size)) return Refuse(size);
    if (arrow::Status status = base_.Allocate(size, alignment, out); !status.ok()) {
      budget_.Give(size);
      return status;
    }
    Count(size);
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** ptr) override {
    if (new_size < 0) return arrow::Status::Invalid("negative allocation of ", new_size, " bytes");
    const int64_t more = new_size - old_size;
    if (more > 0 && !budget_.TryTake(more)) return Refuse(more);
    if (arrow::Status status = base_.Reallocate(old_size, new_size, alignment, ptr); !status.ok()) {
      if (more > 0) budget_.Give(more);
      return status;
    }
    if (more < 0) budget_.Give(-more);
    Count(more);
    return arrow::Status::OK();
  }

  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    base_.Free(buffer, size, alignment);
    budget_.Give(size);
    held_.fetch_sub(size, std::memory_order_relaxed);
  }

  int64_t bytes_allocated() const override { return held_.load(std::memory_order_relaxed); }
  int64_t total_bytes_allocated() const override { return total_.load(std::memory_order_relaxed); }
  int64_t num_allocations() const override { return calls_.load(std::memory_order_relaxed); }
  std::string backend_name() const override { return base_.backend_name(); }
  void ReleaseUnused() override { base_.ReleaseUnused(); }

 private:
  arrow::Status Refuse(int64_t size) const {
    return ToArrow(Error(Code::kExhausted, "memory limit of " + std::to_string(budget_.limit()) +
                                               " bytes: no room for another " +
                                               std::to_string(size) + " bytes of rows"));
  }
  void Count(int64_t grown) {
    held_.fetch_add(grown, std::memory_order_relaxed);
    if (grown > 0) total_.fetch_add(grown, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_relaxed);
  }

  MemoryBudget& budget_;
  arrow::MemoryPool& base_;
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> total_{0};
  std::atomic<int64_t> calls_{0};
};

class ArrowInput final : public arrow::io::RandomAccessFile {
 public:
  ArrowInput(std::unique_ptr<InputFile> file, arrow::MemoryPool* pool)
      : file_(std::move(file)), pool_(pool) {}

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override {
    if (position < 0) return arrow::Status::Invalid("seek to ", position);
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override {
    const std::scoped_lock lock(mutex_);
    if (size_ < 0) {
      auto size = file_->Size();
      if (!size) return ToArrow(size.error());
      size_ = *size;
    }
    return size_;
  }
  using RandomAccessFile::ReadAt;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t nbytes, void* out) override {
    if (position < 0 || nbytes < 0) return arrow::Status::Invalid("read of ", nbytes, " bytes");
    auto got = file_->ReadAt(
        position, std::span<char>(static_cast<char*>(out), static_cast<std::size_t>(nbytes)));
    if (!got) return ToArrow(got.error());
    return static_cast<int64_t>(*got);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t nbytes) override {
    // A length that a broken footer makes up must not become an allocation.
    ARROW_ASSIGN_OR_RAISE(const int64_t size, GetSize());
    if (position < 0 || nbytes < 0 || position > size) {
      return arrow::Status::Invalid("read of ", nbytes, " bytes at ", position, " of ", size);
    }
    nbytes = std::min(nbytes, size - position);
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(nbytes, pool_));
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position, nbytes, buffer->mutable_data()));
    if (got < nbytes) ARROW_RETURN_NOT_OK(buffer->Resize(got));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<int64_t> Read(int64_t nbytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, nbytes, out));
    position_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, nbytes));
    position_ += buffer->size();
    return buffer;
  }
  // Arrow's default would read on its own thread pool; our files are read by the calling thread.
  using RandomAccessFile::ReadAsync;
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext&,
                                                          int64_t position,
                                                          int64_t nbytes) override {
    return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(position, nbytes));
  }

 private:
  std::unique_ptr<InputFile> file_;
  arrow::MemoryPool* pool_;
  std::mutex mutex_;
  int64_t size_ = -1;  // guarded by mutex_
  int64_t position_ = 0;
  bool closed_ = false;
};

class ArrowOutput final : public arrow::io::OutputStream {
 public:
  explicit ArrowOutput(OutputFile& file) : file_(file) {}
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return file_.bytes_written(); }
  using OutputStream::Write;
  arrow::Status Write(const void* data, int64_t nbytes) override {
    const Status status =
        file_.Append(ByteView(static_cast<const char*>(data), static_cast<std::size_t>(nbytes)));
    return status ? arrow::Status::OK() : ToArrow(status.error());
  }

 private:
  OutputFile& file_;
  bool closed_ = false;
};

}  // namespace

Error FromArrow(const arrow::Status& status, std::string_view step) {
  const auto& detail = status.detail();
  if (detail != nullptr && detail->type_id() == kErrorDetail) {
    const Error& error = static_cast<const ErrorDetail&>(*detail).error();
    return step.empty() ? error : error.Within(step);
  }
  const Error error(CodeOf(status), status.message());
  return step.empty() ? error : error.Within(step);
}

arrow::Status ToArrow(const Error& error) {
  return {CodeOf(error.code()), error.message(), std::make_shared<ErrorDetail>(error)};
}

Status CheckArrow(const arrow::Status& status, std::string_view step) {
  if (status.ok()) return {};
  return FromArrow(status, step);
}

Status Guard(std::string_view step, const std::function<Status()>& fn) {
  const auto named = [step](const Error& error) {
    return step.empty() ? error : error.Within(step);
  };
  try {
    const Status status = fn();
    return status ? status : Status(named(status.error()));
  } catch (const parquet::ParquetStatusException& e) {
    return named(FromArrow(e.status()));
  } catch (const std::bad_alloc&) {
    return named(Error(Code::kExhausted, "out of memory"));
  } catch (const std::exception& e) {
    const std::string_view what = e.what();
    const bool unknown = what.find("ot yet implemented") != std::string_view::npos ||
                         what.find("nsupported") != std::string_view::npos;
    return named(Error(unknown ? Code::kUnsupported : Code::kCorrupt, e.what()));
  }
}

std::shared_ptr<arrow::MemoryPool> MakePool(RunContext& run) {
  return std::make_shared<BudgetPool>(run.memory());
}

std::shared_ptr<arrow::io::RandomAccessFile> ToArrowFile(std::unique_ptr<InputFile> file,
                                                         arrow::MemoryPool* pool) {
  return std::make_shared<ArrowInput>(std::move(file), pool);
}

std::shared_ptr<arrow::io::OutputStream> ToArrowStream(OutputFile& file) {
  return std::make_shared<ArrowOutput>(file);
}

}  // namespace icewright
