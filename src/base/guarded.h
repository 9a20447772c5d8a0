#pragma once

/// \file base/guarded.h
/// Where foreign exceptions end.

#include <exception>
#include <new>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace icewright {

/// Calls fn, which gives a Status or a Result; an exception becomes an error: bad_alloc kExhausted,
/// any other kInternal. What has to be cleaned up after a failure is cleaned up by whoever guards.
template <typename Fn>
std::invoke_result_t<Fn> Guarded(const Fn& fn) {
  try {
    return fn();
  } catch (const std::bad_alloc&) {
    return Error(Code::kExhausted, "out of memory");
  } catch (const std::exception& e) {
    return Error(Code::kInternal, std::string("unexpected exception: ") + e.what());
  }
}

}  // namespace icewright
