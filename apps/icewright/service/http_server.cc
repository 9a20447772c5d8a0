#include "icewright/service/http_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <httplib.h>
#include <malloc.h>
#include <sys/socket.h>

#include <atomic>
#include <charconv>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "base/executor_pool.h"
#include "codec/json.h"
#include "icewright/output.h"
#include "icewright/service/prometheus_metrics.h"
#include "icewright/service/service_json.h"
#include "icewright/service/status_page.h"

namespace icewright::cli {
namespace {

constexpr int kThreads = 8;
constexpr int kTimeoutSeconds = 5;
constexpr int kIdleSeconds = 1;
constexpr std::size_t kLongestRequest = 64 * 1024;
constexpr std::size_t kLargeAnswer = 256 * 1024;
constexpr int kMostRows = 1'000;
constexpr Milliseconds kTooLate = std::chrono::minutes(1);
constexpr const char* kJsonType = "application/json";
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

int HttpStatus(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kDenied:
      return 403;
    case Code::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

void Send(httplib::Response& response, const Json& json) {
  response.set_content(DumpJson(json) + "\n", kJsonType);
}

void SendError(httplib::Response& response, int status, const Error& error) {
  response.status = status;
  Send(response, {{"error", ErrorJson(error)}});
}

void SendError(httplib::Response& response, const Error& error) {
  SendError(response, HttpStatus(error.code()), error);
}

// Takes as long for every wrong token of one length.
bool SameToken(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (given[i] ^ token[i]));
  }
  return difference == 0;
}

Result<int> NumberParam(const httplib::Request& request, const char* name, int otherwise) {
  if (!request.has_param(name)) return otherwise;
  const std::string text = request.get_param_value(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return Error(Code::kInvalidArgument, fmt::format("{} must be a number from 0", name));
  }
  return value;
}

Result<TableQuery> QueryOf(const httplib::Request& request) {
  IW_ASSIGN(const int limit, NumberParam(request, "limit", 100));
  IW_ASSIGN(const int offset, NumberParam(request, "offset", 0));
  return TableQuery{.search = request.get_param_value("search"),
                    .limit = static_cast<std::size_t>(std::min(limit, kMostRows)),
                    .offset = static_cast<std::size_t>(offset)};
}

class Server final : public HttpServer {
 public:
  Server(HttpOptions options, HttpSubject subject)
      : options_(std::move(options)), subject_(subject) {
    // Several services must not share one port without knowing it.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // Browsers open connections before they need them: an idle one must not keep a thread.
    server_.set_keep_alive_max_count(1);
    server_.set_keep_alive_timeout(kIdleSeconds);
    server_.set_read_timeout(kTimeoutSeconds);
    server_.set_write_timeout(kTimeoutSeconds);
    server_.set_payload_max_length(kLongestRequest);
    server_.set_default_headers({{"Cache-Control", "no-store"},
                                 {"X-Content-Type-Options", "nosniff"},
                                 {"Referrer-Policy", "no-referrer"}});
    // What a large answer was made of must not stay with an idle service.
    server_.set_logger([](const httplib::Request&, const httplib::Response& response) {
      if (response.body.size() > kLargeAnswer) ::malloc_trim(0);
    });
    server_.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
          SendError(response, Error(Code::kInternal, "the answer could not be made"));
        });
    server_.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return;
      const Code code = response.status == 404 ? Code::kNotFound : Code::kInvalidArgument;
      SendError(response, response.status,
                Error(code, fmt::format("{} {} is not served here", request.method, request.path)));
    });
    AddPages();
    AddApi();
    AddActions();
  }

  ~Server() override { server_.stop(); }

  Status Listen() {
    port_ = options_.port;
    const bool bound = options_.port == 0 ? (port_ = server_.bind_to_any_port(options_.listen)) > 0
                                          : server_.bind_to_port(options_.listen, options_.port);
    if (!bound) {
      return Error(Code::kUnavailable,
                   fmt::format("cannot listen at {} port {}: is another program there? Set "
                               "maintenance.http.port (0: any that is free)",
                               options_.listen, options_.port));
    }
    thread_.Submit([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    // A stop that comes before the loop runs would be forgotten.
    while (!server_.is_running()) {
      if (ended_) return Error(Code::kUnavailable, "cannot serve at " + address());
      subject_.clock->SleepFor(Milliseconds(1), {});
    }
    return {};
  }

  std::string address() const override {
    const bool v6 = options_.listen.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}/", v6 ? "[" : "", options_.listen, v6 ? "]" : "", port_);
  }

 private:
  using Request = httplib::Request;
  using Response = httplib::Response;

  void AddPages() {
    server_.Get("/", [](const Request&, Response& response) {
      response.set_header("Content-Security-Policy",
                          "default-src 'none'; style-src 'unsafe-inline'; script-src "
                          "'unsafe-inline'; connect-src 'self'; img-src data:; form-action 'none'; "
                          "base-uri 'none'; frame-ancestors 'none'");
      response.set_content(kStatusPage.data(), kStatusPage.size(), "text/html; charset=utf-8");
    });
    server_.Get("/healthz", [this](const Request&, Response& response) {
      const ServiceStatus status = subject_.service->status();
      const bool well = !status.stopping && status.late < kTooLate;
      response.status = well ? 200 : 503;
      Send(response, {{"status", well              ? "ok"
                                 : status.stopping ? "stopping"
                                                   : "late"},
                      {"tables", status.tables.size()},
                      {"late_ms", status.late.count()}});
    });
    server_.Get("/metrics", [this](const Request&, Response& response) {
      response.set_content(RenderMetrics(subject_.service->status()), kMetricsType);
    });
    server_.Get("/metrics/flink", [this](const Request& request, Response& response) {
      const bool filtered = request.get_param_value("filter-label-values") == "true";
      response.set_content(
          RenderFlinkMetrics(subject_.service->status(),
                             filtered ? LabelValues::kFiltered : LabelValues::kAsTheyAre),
          kMetricsType);
    });
  }

  void AddApi() {
    server_.Get("/api/status", [this](const Request&, Response& response) {
      Json json = StatusJson(subject_.service->status(), subject_.clock->Now());
      json["actions"] = !options_.token.empty();
      Send(response, json);
    });
    server_.Get("/api/tables", [this](const Request& request, Response& response) {
      const auto query = QueryOf(request);
      if (!query) return SendError(response, query.error());
      Send(response, TablesJson(subject_.service->status(), *query));
    });
    server_.Get("/api/tasks", [this](const Request& request, Response& response) {
      const auto query = QueryOf(request);
      if (!query) return SendError(response, query.error());
      Send(response, TasksJson(subject_.service->status(), *query));
    });
    server_.Get("/api/runs", [this](const Request& request, Response& response) {
      const auto limit = NumberParam(request, "limit", 100);
      if (!limit) return SendError(response, limit.error());
      const auto runs =
          subject_.store->Runs(request.get_param_value("table"), std::min(*limit, kMostRows));
      if (!runs) return SendError(response, runs.error());
      Send(response, RunsJson(*runs));
    });
    server_.Get("/api/locks", [this](const Request& request, Response& response) {
      auto json = Locks(request.get_param_value("table"));
      if (!json) return SendError(response, json.error());
      Send(response, *json);
    });
  }

  // Without a table: of all of them, without asking the stores.
  Result<Json> Locks(const std::string& name) const {
    const ServiceStatus status = subject_.service->status();
    if (name.empty()) {
      Json rows = Json::array();
      for (const TableStatus& table : status.tables) rows.push_back(LockJson(table));
      return Json{{"locks", std::move(rows)}};
    }
    IW_ASSIGN(const TableStatus* table, Find(status, name));
    const auto locks = subject_.service->LocksOf(name);
    if (locks == nullptr) {
      return Error(Code::kUnavailable, name + " is not open yet: see last_error in /api/tables");
    }
    // A store that does not answer must not take every thread from the others who ask.
    const std::unique_lock one_at_a_time(asking_stores_, std::try_to_lock);
    if (!one_at_a_time) {
      return Error(Code::kUnavailable, "the store of a lock is being asked already: try again");
    }
    IW_ASSIGN(const LockState state, locks->TableLock()->Inspect());
    IW_ASSIGN(const LockState recovery, locks->RecoveryLock()->Inspect());
    return Json{{"locks", Json::array({LockJson(*table, state, recovery)})}};
  }

  static Result<const TableStatus*> Find(const ServiceStatus& status, const std::string& name) {
    for (const TableStatus& table : status.tables) {
      if (table.key == name) return &table;
    }
    return Error(Code::kNotFound, fmt::format("no table named '{}' is maintained here", name));
  }

  void AddActions() {
    const auto add = [this](const char* path, auto act) {
      server_.Post(path, [this, act](const Request& request, Response& response) {
        if (const auto refusal = Refusal(request)) {
          response.set_header("WWW-Authenticate", "Bearer");
          return SendError(response, refusal->first, refusal->second);
        }
        const auto target = TargetOf(request);
        if (!target) return SendError(response, target.error());
        const Status done = act(*subject_.service, target->first, target->second);
        if (!done) return SendError(response, done.error());
        subject_.log->Info(
            fmt::format("{}: {} of {} was asked for", target->first, request.path, target->second));
        response.status = 202;
        Send(response, {{"accepted", true}, {"table", target->first}, {"task", target->second}});
      });
    };
    add("/api/run", [](MaintenanceService& service, const std::string& table,
                       const std::string& task) { return service.RunNow(table, task); });
    add("/api/pause", [](MaintenanceService& service, const std::string& table,
                         const std::string& task) { return service.SetPaused(table, task, true); });
    add("/api/resume",
        [](MaintenanceService& service, const std::string& table, const std::string& task) {
          return service.SetPaused(table, task, false);
        });
  }

  std::optional<std::pair<int, Error>> Refusal(const Request& request) const {
    if (options_.token.empty()) {
      return std::pair(403, Error(Code::kDenied,
                                  "no token is configured: set maintenance.http.token to allow "
                                  "requests that change something"));
    }
    constexpr std::string_view kBearer = "Bearer ";
    const std::string header = request.get_header_value("Authorization");
    if (header.starts_with(kBearer) &&
        SameToken(std::string_view(header).substr(kBearer.size()), options_.token)) {
      return {};
    }
    return std::pair(
        401, Error(Code::kDenied, "the header 'Authorization: Bearer TOKEN' is missing or wrong"));
  }

  Result<std::pair<std::string, std::string>> TargetOf(const Request& request) const {
    const auto json = ParseJson(request.body);
    if (!json || !json->is_object()) {
      return Error(Code::kInvalidArgument,
                   R"(the body must be JSON: {"table": "catalog.namespace.table", "task": "..."})");
    }
    const auto table = GetString(*json, "table");
    const auto task = GetString(*json, "task");
    if (!table || !task) {
      return Error(Code::kInvalidArgument, (table ? task.error() : table.error()).message());
    }
    const ServiceStatus status = subject_.service->status();
    IW_ASSIGN(const TableStatus* known, Find(status, *table));
    std::vector<std::string> ids;
    for (const TaskStatus& t : known->tasks) {
      if (t.id == *task) return std::pair(*table, *task);
      ids.push_back(t.id);
    }
    return Error(Code::kNotFound,
                 fmt::format("{} has no task '{}': it has {}", *table, *task,
                             ids.empty() ? "none yet" : fmt::format("{}", fmt::join(ids, ", "))));
  }

  const HttpOptions options_;
  const HttpSubject subject_;
  mutable std::mutex asking_stores_;
  httplib::Server server_;
  int port_ = 0;
  std::atomic<bool> ended_ = false;
  WorkerPool thread_{1};  // last: its thread ends first
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                      HttpSubject subject) {
  auto server = std::make_unique<Server>(options, subject);
  IW_TRY(server->Listen());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace icewright::cli
