#pragma once

/// \file base/result.h
/// The error type of the whole code base: a value, or a code and a message.
///
/// Shaped like std::expected. Our own code throws nothing; exceptions of libraries are translated
/// once, at the boundary to the library.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace icewright {

/// Names what the *caller* does next. One code per reaction, not one per cause.
enum class Code : std::uint8_t {
  kInvalidArgument,  ///< Fix the call or the configuration.
  kNotFound,         ///< Name something that exists.
  kAlreadyExists,    ///< Choose another name.
  kCorrupt,          ///< Bytes break the format. Stop; delete nothing.
  kUnsupported,      ///< Valid input that this build does not handle.
  kConflict,         ///< Lost a commit race. Reload the table and plan again.
  kCommitUnknown,    ///< The commit may have landed. Never clean up after it.
  kUnavailable,      ///< Transient. Retry with backoff.
  kIo,               ///< Permanent storage failure.
  kDenied,           ///< Get the permission.
  kLockHeld,         ///< Another holder. Wait.
  kLockLost,         ///< Our lease ended. Stop before the next write.
  kCancelled,        ///< Stopped on request.
  kExhausted,        ///< Over a memory, disk or time budget.
  kInternal,         ///< A bug of ours. Please report.
};

/// "kConflict" -> "conflict": the word that JSON output and logs use.
std::string_view Name(Code code);

/// One sentence for a person: what to do about an error of this code.
std::string_view NextStep(Code code);

constexpr bool IsRetryable(Code code) { return code == Code::kUnavailable; }

/// A code and a message for a person. Two words, cheap to copy. Immutable.
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message);

  Code code() const { return rep_->code; }
  const std::string& message() const { return rep_->message; }

  /// Prefixes the message with the step that failed: "read manifest m3.avro: ...".
  Error Within(std::string_view step) const;

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

/// A T or an Error. Convertible from both.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  /// From anything that T itself converts from, e.g. unique_ptr<Derived> to unique_ptr<Base>.
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// Precondition: has_value(). A violation throws and becomes kInternal at the next boundary.
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  /// Precondition: !has_value().
  const Error& error() const { return std::get<1>(state_); }

  /// The same result; an error is prefixed by the step.
  Result Within(std::string_view step) && {
    if (has_value()) return std::move(*this);
    return error().Within(step);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const {}
  const Error& error() const { return *error_; }
  Result Within(std::string_view step) && {
    if (has_value()) return {};
    return error_->Within(step);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

/// Returns the error of `expr` to the caller, if it has one.
#define IW_TRY(expr)                                                                  \
  do {                                                                                \
    if (auto icewright_try_ = (expr); !icewright_try_) return icewright_try_.error(); \
  } while (false)

/// IW_ASSIGN(auto x, F()): unwraps F() into x, or returns its error.
#define IW_ASSIGN(lhs, ...) IW_ASSIGN_1_(lhs, __COUNTER__, __VA_ARGS__)
#define IW_ASSIGN_1_(lhs, n, ...) IW_ASSIGN_2_(lhs, n, __VA_ARGS__)
#define IW_ASSIGN_2_(lhs, n, ...)                                 \
  auto icewright_result_##n = (__VA_ARGS__);                      \
  if (!icewright_result_##n) return icewright_result_##n.error(); \
  lhs = std::move(icewright_result_##n).value()

}  // namespace icewright
