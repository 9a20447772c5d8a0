#include "icewright/service/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "codec/json.h"
#include "testing/matchers.h"

namespace icewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ConfigNode Text(std::string text) { return {.text = std::move(text), .place = "f.yaml:7"}; }

Result<HttpOptions> Read(std::vector<std::pair<std::string, ConfigNode>> members) {
  return ReadHttpOptions(ConfigNode{.kind = ConfigNode::Kind::kMap, .members = std::move(members)});
}

TEST(HttpOptionsTest, DefaultsAreThisMachineOnly) {
  const auto options = ReadHttpOptions({});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->enabled);
  EXPECT_TRUE(options->loopback());
  EXPECT_FALSE(options->required);
  EXPECT_EQ(options->port, 9340);
}

TEST(HttpOptionsTest, ValuesAreRead) {
  const auto options = Read({{"listen", Text("0.0.0.0")},
                             {"port", Text("0")},
                             {"token", Text("0123456789abcdef")},
                             {"enabled", Text("false")}});
  ASSERT_THAT(options, IsOk());
  EXPECT_FALSE(options->enabled);
  EXPECT_FALSE(options->loopback());
  EXPECT_TRUE(options->required);
  EXPECT_EQ(options->port, 0);
  EXPECT_EQ(options->token, "0123456789abcdef");
}

TEST(HttpOptionsTest, MistakesAreNamedWithTheirPlaceAndSecretsAreNot) {
  struct Case {
    std::string key, value, message;
  };
  for (const Case& c :
       {Case{"port", "70000", "0 (any that is free) to 65535"}, Case{"port", "-1", "65535"},
        Case{"port", "http", "65535"}, Case{"listen", "", "127.0.0.1"},
        Case{"enabled", "maybe", "enabled"}, Case{"token", "s3cret", "at least 16 characters"},
        Case{"tokne", "x", "did you mean 'token'?"}}) {
    const auto options = Read({{c.key, Text(c.value)}});
    ASSERT_FALSE(options) << c.key;
    EXPECT_THAT(options.error().message(), HasSubstr(c.message));
    EXPECT_THAT(options.error().message(), HasSubstr("f.yaml:7"));
    EXPECT_THAT(options.error().message(), Not(HasSubstr("s3cret")));
  }
  EXPECT_THAT(ReadHttpOptions(Text("8080")), HasCode(Code::kInvalidArgument));
}

constexpr const char* kToken = "a-token-for-tests";

class HttpServerTest : public ::testing::Test {
 public:
  void SetUp() override {
    auto store = ScheduleStore::Open(":memory:");
    ASSERT_THAT(store, IsOk());
    store_ = *store;
    service_.SetTables(
        {{.key = "p.w.t", .open = [](StartGate) -> Result<std::unique_ptr<TableScheduler>> {
            return Error(Code::kUnavailable, "the catalog is away");
          }}});
  }
  std::unique_ptr<HttpServer> Serve(HttpOptions options) {
    options.port = 0;
    auto server = HttpServer::Start(options, {.service = &service_, .store = store_.get()});
    EXPECT_THAT(server, IsOk());
    return std::move(server).value();
  }
  static httplib::Client ClientOf(const HttpServer& server) {
    const std::string address = server.address();
    return httplib::Client(address.substr(0, address.size() - 1));
  }
  static Json Body(const httplib::Result& answer) {
    const auto json = ParseJson(answer->body);
    EXPECT_THAT(json, IsOk()) << answer->body;
    return json ? *json : Json();
  }

 protected:
  InProcessRunner runner_;
  std::shared_ptr<SteadyTime> time_ = std::make_shared<SteadyTime>(Clock::System());
  MaintenanceService service_{{}, runner_, time_};
  std::shared_ptr<ScheduleStore> store_;
};

TEST_F(HttpServerTest, EveryPathAnswers) {
  const auto server = Serve({});
  EXPECT_THAT(server->address(), ::testing::MatchesRegex("http://127.0.0.1:[0-9]+/"));
  auto client = ClientOf(*server);
  struct Case {
    const char* path;
    const char* type;
    const char* part;
  };
  for (const Case& c : {Case{"/", "text/html; charset=utf-8", "<!doctype html>"},
                        Case{"/healthz", "application/json", "\"status\":\"ok\""},
                        Case{"/metrics", "text/plain; version=0.0.4; charset=utf-8",
                             "icewright_table_up{table=\"p.w.t\"} 0"},
                        Case{"/metrics/flink", "text/plain; version=0.0.4; charset=utf-8",
                             "_rateLimiterTriggered{"},
                        Case{"/api/status", "application/json", "\"tables\":1"},
                        Case{"/api/tables", "application/json", "\"table\":\"p.w.t\""},
                        Case{"/api/tasks", "application/json", "\"tasks\":[]"},
                        Case{"/api/runs", "application/json", "\"runs\":[]"},
                        Case{"/api/locks", "application/json", "\"table\":\"p.w.t\""}}) {
    const auto answer = client.Get(c.path);
    ASSERT_TRUE(answer) << c.path;
    EXPECT_EQ(answer->status, 200) << c.path;
    EXPECT_EQ(answer->get_header_value("Content-Type"), c.type) << c.path;
    EXPECT_EQ(answer->get_header_value("Cache-Control"), "no-store") << c.path;
    EXPECT_THAT(answer->body, HasSubstr(c.part)) << c.path;
  }
  EXPECT_THAT(client.Get("/")->get_header_value("Content-Security-Policy"),
              HasSubstr("default-src 'none'"));
}

TEST_F(HttpServerTest, WhatIsNotThereIsNamed) {
  const auto server = Serve({});
  auto client = ClientOf(*server);
  struct Case {
    const char* path;
    int status;
    const char* part;
  };
  for (const Case& c :
       {Case{"/nothing", 404, "GET /nothing is not served here"},
        Case{"/api/tables?limit=many", 400, "limit must be a number"},
        Case{"/api/tables?offset=-1", 400, "offset must be a number"},
        Case{"/api/runs?limit=1e9", 400, "limit must be a number"},
        Case{"/api/locks?table=p.w.u", 404, "no table named 'p.w.u' is maintained here"},
        Case{"/api/locks?table=p.w.t", 503, "p.w.t is not open yet"}}) {
    const auto answer = client.Get(c.path);
    ASSERT_TRUE(answer) << c.path;
    EXPECT_EQ(answer->status, c.status) << c.path;
    EXPECT_THAT(Body(answer)["error"]["message"].get<std::string>(), HasSubstr(c.part));
  }
  EXPECT_EQ(client.Get("/api/run")->status, 404) << "actions are no links";
}

TEST_F(HttpServerTest, ActionsNeedTheToken) {
  const std::string body = R"({"table": "p.w.t", "task": "a"})";
  const auto post = [&](httplib::Client& client, const std::string& authorization,
                        const std::string& sent) {
    return client.Post("/api/run", {{"Authorization", authorization}}, sent, "application/json");
  };
  const auto closed = Serve({});
  auto client = ClientOf(*closed);
  EXPECT_EQ(post(client, "Bearer ", body)->status, 403);
  EXPECT_EQ(Body(client.Get("/api/status"))["actions"], false);

  const auto open = Serve({.token = kToken});
  auto other = ClientOf(*open);
  EXPECT_EQ(Body(other.Get("/api/status"))["actions"], true);
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer a-token-for-testz", "Bearer a-token-for-test",
        "Bearer A-token-for-tests", "Basic a-token-for-tests", kToken}) {
    const auto answer = post(other, wrong, body);
    EXPECT_EQ(answer->status, 401) << wrong;
    EXPECT_EQ(answer->get_header_value("WWW-Authenticate"), "Bearer");
    EXPECT_THAT(answer->body, Not(HasSubstr(kToken)));
  }
  const std::string right = std::string("Bearer ") + kToken;
  for (const char* bad :
       {"", "{}", "[]", "{", R"({"table": "p.w.t"})", R"({"table": 1, "task": "a"})"}) {
    EXPECT_EQ(post(other, right, bad)->status, 400) << bad;
  }
  EXPECT_EQ(post(other, right, R"({"table": "p.w.u", "task": "a"})")->status, 404);
  EXPECT_THAT(post(other, right, body)->body, HasSubstr("it has none yet"));
  EXPECT_EQ(post(other, right, std::string(100'000, ' '))->status, 413);
}

TEST_F(HttpServerTest, IdleConnectionsDoNotKeepOthersOut) {
  const auto server = Serve({});
  const std::string address = server->address();
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<int> idle;
  for (int i = 0; i < 12; ++i) {
    idle.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(idle.back(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  auto client = ClientOf(*server);
  client.set_read_timeout(4);  // two rounds of idle connections, and time for a busy machine
  EXPECT_TRUE(client.Get("/healthz"));
  for (const int socket : idle) ::close(socket);
}

TEST_F(HttpServerTest, APortThatIsTakenIsAnError) {
  const auto server = Serve({});
  const std::string address = server->address();
  HttpOptions same;
  same.port = std::stoi(address.substr(address.rfind(':') + 1));
  const auto second = HttpServer::Start(same, {.service = &service_, .store = store_.get()});
  EXPECT_THAT(second, HasCode(Code::kUnavailable));
  EXPECT_THAT(second.error().message(), HasSubstr("maintenance.http.port"));
}

TEST_F(HttpServerTest, AServiceThatStopsIsNotWell) {
  const auto server = Serve({});
  auto client = ClientOf(*server);
  std::stop_source stop;
  stop.request_stop();
  service_.Run(stop.get_token());
  const auto answer = client.Get("/healthz");
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(Body(answer)["status"], "stopping");
}

}  // namespace
}  // namespace icewright::cli
