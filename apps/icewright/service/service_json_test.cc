#include "icewright/service/service_json.h"

#include <gmock/gmock.h>

#include "codec/json.h"

namespace icewright::cli {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Names(const Json& page) {
  std::vector<std::string> names;
  for (const Json& row : page["tables"]) names.push_back(row["table"].get<std::string>());
  return names;
}

TableStatus Named(const std::string& name) {
  TableStatus table;
  table.table = table.key = name;
  table.last_look = FromMillis(1000);
  return table;
}

ServiceStatus Four() {
  ServiceStatus status;
  status.tables = {Named("p.w.quiet"), Named("p.w.Busy"), Named("p.w.broken"), Named("p.x.a")};
  status.tables[1].tasks.emplace_back().running = true;
  status.tables[2].last_error = "the catalog is away";
  return status;
}

TEST(TablesJsonTest, WhatNeedsALookComesFirst) {
  EXPECT_THAT(Names(TablesJson(Four(), {})),
              ElementsAre("p.w.broken", "p.w.Busy", "p.w.quiet", "p.x.a"));
}

TEST(TablesJsonTest, PagesAndSearches) {
  const Json page = TablesJson(Four(), {.search = ".w.B", .limit = 1, .offset = 1});
  EXPECT_EQ(page["tables_found"], 2);
  EXPECT_THAT(Names(page), ElementsAre("p.w.Busy"));
  EXPECT_THAT(Names(TablesJson(Four(), {.offset = 9})), ElementsAre());
  EXPECT_THAT(Names(TablesJson(Four(), {.limit = 0})), ElementsAre());
}

TEST(TablesJsonTest, HealthIsAWord) {
  ServiceStatus status = Four();
  status.tables[0].last_look.reset();
  status.tables[3].facts = TableFacts{.data_files = 100, .data_bytes = 100, .target_file_bytes = 9};
  const Json page = TablesJson(status, {});
  const auto health = [&](int i) { return page["tables"][i]["health"].get<std::string>(); };
  EXPECT_EQ(health(0), "bad");
  EXPECT_EQ(health(1), "ok");
  EXPECT_EQ(health(2), "new");
  EXPECT_EQ(health(3), "debt");
  EXPECT_EQ(page["tables"][0]["problems"], Json::array({"the catalog is away"}));
}

TEST(StatusJsonTest, RunningTasksHaveTheirProgress) {
  ServiceStatus status = Four();
  status.running = {{.run_id = 7,
                     .table = "p.w.Busy",
                     .task = "a",
                     .started = FromMillis(5),
                     .progress = Progress::View{"rewrite", "groups", 9, 4}},
                    {.run_id = 8, .table = "p.x.a", .task = "b", .progress = {}}};
  const Json json = StatusJson(status, FromMillis(42));
  EXPECT_EQ(json["now"], 42);
  EXPECT_EQ(json["tables"], 4);
  EXPECT_EQ(json["tables_with_problems"], 1);
  EXPECT_EQ(json["running"][0]["progress"],
            (Json{{"phase", "rewrite"}, {"unit", "groups"}, {"done", 4}, {"total", 9}}));
  EXPECT_TRUE(json["running"][1]["progress"].is_null());
  EXPECT_TRUE(json["bytes_per_hour"].is_null());
}

TEST(RunsJsonTest, ARecordAsItWasKept) {
  const RunRecord record{.run_id = 3,
                         .table = "p.w.t",
                         .task = "rewrite-data-files",
                         .reason = "commit-count 5 of 5",
                         .started = FromMillis(100),
                         .ended = FromMillis(250),
                         .outcome = "failed",
                         .snapshot_ids = {SnapshotId{9'007'199'254'740'993}},
                         .counts = {{"rewritten-bytes", 10}},
                         .error_code = "conflict",
                         .error = "lost a race",
                         .failures = {"f"},
                         .notes = {"n"},
                         .leftovers = 2};
  EXPECT_EQ(RunsJson({record})["runs"][0],
            (Json{{"run_id", 3},
                  {"table", "p.w.t"},
                  {"task", "rewrite-data-files"},
                  {"reason", "commit-count 5 of 5"},
                  {"started", 100},
                  {"ended", 250},
                  {"outcome", "failed"},
                  {"snapshot_ids", Json::array({"9007199254740993"})},
                  {"counts", {{"rewritten-bytes", 10}}},
                  {"error", {{"code", "conflict"}, {"message", "lost a race"}}},
                  {"failures", Json::array({"f"})},
                  {"notes", Json::array({"n"})},
                  {"leftovers", 2}}));
  const Json running = RunsJson({RunRecord()})["runs"][0];
  EXPECT_TRUE(running["ended"].is_null());
  EXPECT_TRUE(running["error"].is_null());
}

TEST(LockJsonTest, SaysWhoHoldsIt) {
  TableStatus table = Named("p.w.t");
  table.lock = {.type = "jdbc", .lock_id = "p.w.t", .warnings = {"no TLS"}};
  table.waits_for = "the lock";
  LockState state;
  state.held = true;
  state.owner = "icewright on db3";
  state.since = FromMillis(1);
  state.lease_until = FromMillis(9);
  const Json json = LockJson(table, state, {});
  EXPECT_EQ(json["type"], "jdbc");
  EXPECT_EQ(json["held"], true);
  EXPECT_EQ(json["owner"], "icewright on db3");
  EXPECT_EQ(json["lease"], (Json{{"until", 9}, {"over", false}}));
  EXPECT_EQ(json["recovery"]["held"], false);
  EXPECT_EQ(json["waited_for"], true);
  EXPECT_EQ(json["warnings"], Json::array({"no TLS"}));
}

}  // namespace
}  // namespace icewright::cli
