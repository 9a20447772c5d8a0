#pragma once

/// \file icewright/service/http_server.h
/// The service's side of HTTP: health, metrics, JSON and a page. docs/service.md lists the paths.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "icewright/service/http_options.h"
#include "schedule/maintenance_service.h"
#include "schedule/schedule_store.h"

namespace icewright::cli {

/// What is shown. What the pointers name must outlive the server.
struct HttpSubject {
  MaintenanceService* service = nullptr;
  ScheduleStore* store = nullptr;
  Clock* clock = &Clock::System();
  Log* log = &Log::Silent();
};

/// Answers on threads of its own, until it is destroyed.
class HttpServer {
 public:
  /// Errors: kUnavailable: the address cannot be listened at.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpOptions& options, HttpSubject subject);
  virtual ~HttpServer() = default;

  /// "http://127.0.0.1:9340/"
  virtual std::string address() const = 0;
};

}  // namespace icewright::cli
