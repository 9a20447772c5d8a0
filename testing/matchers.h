#pragma once

/// \file testing/matchers.h
/// Matchers for Result and Status.
///
///   EXPECT_THAT(status, IsOk());
///   EXPECT_THAT(result, IsOkAndHolds(42));
///   EXPECT_THAT(result, IsOkAndHolds(ElementsAre(1, 2)));
///   EXPECT_THAT(result, HasCode(Code::kConflict));
///   EXPECT_THAT(result, HasError(Code::kCorrupt, HasSubstr("m0.avro")));
///   IW_ASSERT_OK_AND_ASSIGN(auto table, catalog.LoadTable(run, id));

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "base/result.h"

namespace icewright {

inline void PrintTo(Code code, std::ostream* os) { *os << Name(code); }

inline void PrintTo(const Error& error, std::ostream* os) {
  *os << '[' << Name(error.code()) << "] " << error.message();
}

template <typename T>
void PrintTo(const Result<T>& result, std::ostream* os) {
  if (result) {
    *os << "OK";
  } else {
    PrintTo(result.error(), os);
  }
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  if (arg.has_value()) return true;
  *result_listener << "[" << Name(arg.error().code()) << "] " << arg.error().message();
  return false;
}

MATCHER_P(HasCode, code, std::string("has code ") + std::string(Name(code))) {
  if (arg.has_value()) {
    *result_listener << "is OK";
    return false;
  }
  *result_listener << "[" << Name(arg.error().code()) << "] " << arg.error().message();
  return arg.error().code() == code;
}

MATCHER_P2(HasError, code, message, std::string("has code ") + std::string(Name(code))) {
  if (arg.has_value()) {
    *result_listener << "is OK";
    return false;
  }
  *result_listener << "[" << Name(arg.error().code()) << "] " << arg.error().message();
  return arg.error().code() == code &&
         ::testing::ExplainMatchResult(message, arg.error().message(), result_listener);
}

MATCHER_P(IsOkAndHolds, matcher, "") {
  if (!arg.has_value()) {
    *result_listener << "[" << Name(arg.error().code()) << "] " << arg.error().message();
    return false;
  }
  return ::testing::ExplainMatchResult(matcher, *arg, result_listener);
}

#define IW_ASSERT_OK_AND_ASSIGN(lhs, ...) IW_ASSERT_OK_1_(lhs, __COUNTER__, __VA_ARGS__)
#define IW_ASSERT_OK_1_(lhs, n, ...) IW_ASSERT_OK_2_(lhs, n, __VA_ARGS__)
#define IW_ASSERT_OK_2_(lhs, n, ...)                    \
  auto icewright_test_##n = (__VA_ARGS__);              \
  ASSERT_THAT(icewright_test_##n, ::icewright::IsOk()); \
  lhs = std::move(icewright_test_##n).value()

}  // namespace icewright
