#include "schedule/maintenance_config.h"

#include <gmock/gmock.h>

#include "config/config_file.h"
#include "schedule/maintenance_guards.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::optional<std::string> Env(std::string_view name) {
  if (name == "LOCK_PASSWORD") return "hunter2";
  return {};
}

Result<MaintenanceConfig> Read(const std::string& yaml) {
  IW_ASSIGN(const ConfigFile file, ParseConfig("maintenance:\n" + yaml, "f.yaml", Env, {}));
  return MaintenanceConfig::Read(*file.maintenance);
}

TableConfig TableOf(const std::string& yaml, const std::string& name = "c.db.t") {
  const auto config = Read(yaml);
  EXPECT_THAT(config, IsOk());
  if (!config) return {};
  auto table = config->ForTable(name);
  EXPECT_THAT(table, IsOk());
  return table && *table ? std::move(**table) : TableConfig();
}

std::vector<std::string> Ids(const TableConfig& table) {
  std::vector<std::string> ids;
  for (const ScheduledTask& task : table.tasks) ids.push_back(task.trigger.id);
  return ids;
}

const ScheduledTask& TaskOf(const TableConfig& table, const std::string& id) {
  for (const ScheduledTask& task : table.tasks) {
    if (task.trigger.id == id) return task;
  }
  ADD_FAILURE() << "no task " << id;
  static const ScheduledTask none;
  return none;
}

TEST(MaintenanceConfigTest, TheNestedForm) {
  const std::string yaml = R"(
  state: /var/lib/icewright/state.db
  concurrent-tasks: 3
  threads: 6
  memory: 3GiB
  bytes-per-hour: 100GiB
  connections: 4
  stop-grace: 10s
  http: {port: 0}
  pools:
    heavy: {concurrent-tasks: 1, threads: 4, memory: 4GiB}
  defaults:
    rate-limit: 2 min
    lock-check-delay: 10s
    parallelism: 2
    lock: {type: jdbc, jdbc.uri: "jdbc:sqlite:/l.db", jdbc: {password: "${env:LOCK_PASSWORD}"}}
  tables:
    c.db.t:
      max-read-back: 7
      policy: java
      rewrite-data-files:
        target-file-size-bytes: 256MiB
        slot-sharing-group: heavy
        parallelism: 4
        schedule:
          commit-count: 5
          data-file-size: 1GiB
          all-of: [{commit-count: 2, interval: 1h}]
          cron: ["0 3 * * *", "@weekly"]
          quiet-hours: mon-fri 08:00-18:00
          utc-offset: "+02:00"
          rate-limit: 30 min
          max-run-time: 2h
          priority: 1
          paused: true
      expire-snapshots: {retain-last: 3, schedule: {interval: 1d}}
)";
  const auto config = Read(yaml);
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->state, "/var/lib/icewright/state.db");
  EXPECT_EQ(config->bytes_per_hour, std::int64_t{100} << 30);
  EXPECT_EQ(config->connections, 4);
  EXPECT_EQ(config->stop_grace, seconds(10));
  ASSERT_TRUE(config->http);
  EXPECT_EQ(config->http->members[0].first, "port") << "the program reads it";
  EXPECT_THAT(config->pools, ElementsAre(Pair("", PoolOptions{3, 6, std::int64_t{3} << 30}),
                                         Pair("heavy", PoolOptions{1, 4, std::int64_t{4} << 30})));
  EXPECT_THAT(config->warnings, IsEmpty());

  const TableConfig table = TableOf(yaml);
  EXPECT_EQ(table.triggers.policy, TriggerPolicy::kJava);
  EXPECT_EQ(table.triggers.rate_limit, minutes(2));
  EXPECT_EQ(table.triggers.lock_check_delay, seconds(10));
  EXPECT_FALSE(table.triggers.eager);
  EXPECT_EQ(table.max_read_back, 7);
  EXPECT_THAT(table.lock,
              UnorderedElementsAre(Pair("flink-maintenance.lock.type", "jdbc"),
                                   Pair("flink-maintenance.lock.jdbc.uri", "jdbc:sqlite:/l.db"),
                                   Pair("flink-maintenance.lock.jdbc.password", "hunter2")));
  EXPECT_THAT(Ids(table), ElementsAre("rewrite-data-files", "expire-snapshots"));
  const ScheduledTask& rewrite = table.tasks[0];
  EXPECT_EQ(rewrite.pool, "heavy");
  EXPECT_EQ(rewrite.parallelism, 4);
  EXPECT_EQ(rewrite.trigger.schedule.any,
            (Conditions{.on_commit_count = 5, .on_data_file_size_bytes = std::int64_t{1} << 30}));
  const ScheduleExtras& extras = rewrite.trigger.schedule.extras;
  EXPECT_THAT(extras.all_of,
              ElementsAre(Conditions{.on_commit_count = 2, .on_interval = hours(1)}));
  EXPECT_THAT(extras.cron, ElementsAre(CronTimes::Parse("0 3 * * *").value(),
                                       CronTimes::Parse("@weekly").value()));
  EXPECT_THAT(extras.quiet_hours, ElementsAre(QuietHours::Parse("mon-fri 08:00-18:00").value()));
  EXPECT_EQ(extras.utc_offset, hours(2));
  EXPECT_EQ(extras.rate_limit, minutes(30));
  EXPECT_EQ(extras.max_run_time, hours(2));
  EXPECT_EQ(extras.priority, 1);
  EXPECT_TRUE(extras.paused);
  EXPECT_EQ(table.tasks[1].trigger.schedule.any, Conditions{.on_interval = hours(24)});
  EXPECT_EQ(table.tasks[1].parallelism, 2);
  EXPECT_EQ(table.tasks[1].pool, "");
}

// Every key of Flink's configuration, as it is written there.
TEST(MaintenanceConfigTest, FlinksKeys) {
  const TableConfig table = TableOf(R"(
  pools: {group: {}}
  tables:
    c.db.t:
      flink-maintenance.rate-limit-seconds: 90
      flink-maintenance.lock-check-delay-seconds: 15
      flink-maintenance.parallelism: 3
      flink-maintenance.slot-sharing-group: group
      flink-maintenance.lock.type: jdbc
      flink-maintenance.lock.lock-id: id
      flink-maintenance.lock.jdbc.uri: jdbc:sqlite:/l.db
      flink-maintenance.lock.jdbc.init-lock-table: "true"
      flink-maintenance.lock.jdbc.user: u
      flink-maintenance.lock.retryable_status_codes: "57P01"
      flink-maintenance.lock.zookeeper.uri: z:2181
      flink-maintenance.rewrite.enabled: TRUE
      flink-maintenance.rewrite.schedule.commit-count: 11
      flink-maintenance.rewrite.schedule.data-file-count: 12
      flink-maintenance.rewrite.schedule.data-file-size: 13
      flink-maintenance.rewrite.schedule.interval-second: 14
      flink-maintenance.rewrite.max-bytes: 15
      flink-maintenance.rewrite.partial-progress.enabled: true
      flink-maintenance.rewrite.partial-progress.max-commits: 16
      flink-maintenance.rewrite.target-file-size-bytes: 1000000
      flink-maintenance.rewrite.min-input-files: 2
      flink-maintenance.expire-snapshots.enabled: true
      flink-maintenance.expire-snapshots.schedule.commit-count: 21
      flink-maintenance.expire-snapshots.schedule.interval-second: 22
      flink-maintenance.expire-snapshots.max-snapshot-age-seconds: 23
      flink-maintenance.expire-snapshots.retain-last: 24
      flink-maintenance.expire-snapshots.delete-batch-size: 25
      flink-maintenance.expire-snapshots.clean-expired-metadata: true
      flink-maintenance.expire-snapshots.planning-worker-pool-size: 26
      flink-maintenance.convert-equality-deletes.enabled: true
      flink-maintenance.convert-equality-deletes.target-branch: out
      flink-maintenance.convert-equality-deletes.schedule.commit-count: 31
      flink-maintenance.convert-equality-deletes.schedule.interval-second: 32
      branch: in
      uid-suffix: u1
      table.exec.iceberg.use-v2-sink: true
)");
  EXPECT_EQ(table.triggers.rate_limit, seconds(90));
  EXPECT_EQ(table.triggers.lock_check_delay, seconds(15));
  EXPECT_EQ(table.uid_suffix, "u1");
  EXPECT_EQ(table.lock.size(), 7U);
  EXPECT_THAT(Ids(table),
              ElementsAre("rewrite-data-files", "convert-equality-deletes", "expire-snapshots"));
  EXPECT_EQ(table.tasks[0].trigger.schedule.any, (Conditions{.on_commit_count = 11,
                                                             .on_data_file_count = 12,
                                                             .on_data_file_size_bytes = 13,
                                                             .on_interval = seconds(14)}));
  EXPECT_EQ(table.tasks[0].branch, "in");
  EXPECT_EQ(table.tasks[0].parallelism, 3);
  EXPECT_EQ(table.tasks[0].pool, "group");
  EXPECT_EQ(table.tasks[1].trigger.schedule.any,
            (Conditions{.on_commit_count = 31, .on_interval = seconds(32)}));
  EXPECT_EQ(table.tasks[1].branch, "in") << "the staging branch is watched";
  EXPECT_EQ(table.tasks[2].trigger.schedule.any,
            (Conditions{.on_commit_count = 21, .on_interval = seconds(22)}));
  EXPECT_EQ(table.tasks[2].branch, "main");
}

TEST(MaintenanceConfigTest, FlinksSinkWritesToMainIfItDoesNotSay) {
  const TableConfig flink = TableOf(R"(
  tables:
    c.db.t:
      flink-maintenance.convert-equality-deletes.enabled: true
      flink-maintenance.convert-equality-deletes.target-branch: out
)");
  ASSERT_EQ(flink.tasks.size(), 1U);
  EXPECT_EQ(flink.tasks[0].branch, "main") << "staged there, promoted to out";
  const TableConfig ours = TableOf(R"(
  tables:
    c.db.t:
      convert-equality-deletes:
        equality-field-columns: id
        target-branch: out
)");
  ASSERT_EQ(ours.tasks.size(), 1U);
  EXPECT_EQ(ours.tasks[0].branch, "out") << "in place";
}

TEST(MaintenanceConfigTest, FlinksDefaults) {
  const TableConfig table = TableOf(R"(
  tables:
    c.db.t:
      flink-maintenance.rewrite.enabled: true
      flink-maintenance.rewrite.schedule.commit-count: 3
      flink-maintenance.expire-snapshots.enabled: true
      flink-maintenance.convert-equality-deletes.enabled: true
      flink-maintenance.parallelism: -1
)");
  EXPECT_EQ(table.triggers.rate_limit, seconds(60));
  EXPECT_EQ(table.triggers.lock_check_delay, seconds(30));
  EXPECT_TRUE(table.triggers.eager);
  EXPECT_EQ(TaskOf(table, "rewrite-data-files").trigger.schedule.any,
            (Conditions{.on_commit_count = 3,
                        .on_data_file_count = 1000,
                        .on_data_file_size_bytes = 107374182400,
                        .on_interval = seconds(600)}));
  EXPECT_EQ(TaskOf(table, "expire-snapshots").trigger.schedule.any,
            (Conditions{.on_commit_count = 10, .on_interval = seconds(3600)}));
  EXPECT_EQ(TaskOf(table, "convert-equality-deletes").trigger.schedule.any,
            (Conditions{.on_commit_count = 1}));
  EXPECT_EQ(table.tasks[0].parallelism, std::nullopt);
}

TEST(MaintenanceConfigTest, ATaskIsOffUnlessItIsAskedFor) {
  const auto ids = [](const std::string& keys) {
    return Ids(TableOf("  tables:\n    c.db.*:\n" + keys));
  };
  EXPECT_THAT(ids("      flink-maintenance.rewrite.min-input-files: 2\n"), IsEmpty());
  EXPECT_THAT(ids("      flink-maintenance.rewrite.enabled: false\n"), IsEmpty());
  EXPECT_THAT(ids("      rewrite-data-files:\n"), ElementsAre("rewrite-data-files"));
  EXPECT_THAT(ids("      rewrite-data-files: {}\n"), ElementsAre("rewrite-data-files"));
  EXPECT_THAT(ids("      rewrite-data-files: {min-input-files: 2}\n"),
              ElementsAre("rewrite-data-files"));
  EXPECT_THAT(ids("      rewrite-data-files: {enabled: false, min-input-files: 2}\n"), IsEmpty());
  EXPECT_THAT(ids("      rewrite-data-files@small: {max-files-to-rewrite: 5}\n"
                  "      rewrite-data-files: {}\n"),
              ElementsAre("rewrite-data-files", "rewrite-data-files@small"));
}

TEST(MaintenanceConfigTest, AliasesAreAcceptedWithAWarning) {
  const auto config = Read(R"(
  tables:
    c.db.t:
      compaction-enabled: true
      use.v2.sink: true
      table.exec.iceberg.use.v2.sink: true
      flink-maintenance.lock.jdbc.init-lock-tables: "true"
)");
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(
      config->warnings,
      ElementsAre("f.yaml:5: compaction-enabled is now flink-maintenance.rewrite.enabled",
                  "f.yaml:6: use.v2.sink is now table.exec.iceberg.use-v2-sink",
                  "f.yaml:7: table.exec.iceberg.use.v2.sink is now table.exec.iceberg.use-v2-sink",
                  "f.yaml:8: flink-maintenance.lock.jdbc.init-lock-tables is now "
                  "flink-maintenance.lock.jdbc.init-lock-table"));
  const auto table = config->ForTable("c.db.t");
  ASSERT_THAT(table, IsOk());
  EXPECT_THAT(Ids(**table), ElementsAre("rewrite-data-files"));
  EXPECT_EQ((*table)->lock.at("flink-maintenance.lock.jdbc.init-lock-table"), "true");
}

TEST(MaintenanceConfigTest, RulesAddUpInTheOrderOfTheFile) {
  const std::string yaml = R"(
  defaults:
    rate-limit: 1s
    expire-snapshots: {retain-last: 2}
  tables:
    prod.*.events_*:
      rate-limit: 2s
      rewrite-data-files: {min-input-files: 2, schedule: {commit-count: 4}}
    prod.a.events_big:
      rewrite-data-files: {schedule: {data-file-count: 9}}
      expire-snapshots: {enabled: false}
)";
  EXPECT_THAT(Ids(TableOf(yaml, "prod.a.events_x")),
              ElementsAre("rewrite-data-files", "expire-snapshots"));
  const TableConfig big = TableOf(yaml, "prod.a.events_big");
  EXPECT_THAT(Ids(big), ElementsAre("rewrite-data-files"));
  EXPECT_EQ(big.triggers.rate_limit, seconds(2));
  EXPECT_EQ(big.tasks[0].trigger.schedule.any,
            (Conditions{.on_commit_count = 4, .on_data_file_count = 9}));
  IW_ASSERT_OK_AND_ASSIGN(const auto config, Read(yaml));
  for (const std::string other : {"prod.a.b.events_x", "prod.a.event", "dev.a.events_x"}) {
    EXPECT_THAT(config.ForTable(other), IsOkAndHolds(::testing::Eq(std::nullopt))) << other;
  }
  EXPECT_NE(big.fingerprint, TableOf(yaml, "prod.a.events_x").fingerprint);
  EXPECT_EQ(big.fingerprint, TableOf(yaml, "prod.a.events_big").fingerprint);
}

TEST(MaintenanceConfigTest, Patterns) {
  EXPECT_TRUE(MatchesPattern("a.b.c", "a.b.c"));
  EXPECT_FALSE(MatchesPattern("a.b.c", "a.b.cd"));
  EXPECT_TRUE(MatchesPattern("a.*.c", "a.b.c"));
  EXPECT_FALSE(MatchesPattern("a.*.c", "a.b.b.c"));
  EXPECT_TRUE(MatchesPattern("a.**.c", "a.b.b.c"));
  EXPECT_TRUE(MatchesPattern("**", "a.b.c"));
  EXPECT_TRUE(MatchesPattern("a.b.t?", "a.b.t1"));
  EXPECT_FALSE(MatchesPattern("a.b.t?", "a.b.t"));
  EXPECT_TRUE(MatchesPattern("a.b.*x*", "a.b.xx"));
  EXPECT_FALSE(MatchesPattern("", "a"));
}

struct BadCase {
  std::string yaml;
  std::string message;
};

TEST(MaintenanceConfigTest, MistakesAreNamed) {
  const std::string t = "  tables:\n    c.db.t:\n      ";
  const std::vector<BadCase> cases = {
      {"  tabels: {}", "f.yaml:2: no option named 'tabels'; did you mean 'tables'?"},
      {"  state: x", "'maintenance' names no table"},
      {"  tables: {}", "'maintenance' names no table"},
      {"  tables: []", "tables is a map"},
      {"  tables:\n    t: {rewrite-data-files: {}}", "'t' can be no table"},
      {"  tables:\n    c.db.t: {}", "c.db.t has no task"},
      {"  tables:\n    c.db.t: 7", "a table needs a map"},
      {"  memory: 1KiB\n" + t + "expire-snapshots:", "memory must be at least"},
      {"  concurrent-tasks: 0\n" + t + "expire-snapshots:", "concurrent-tasks must be at least 1"},
      {"  pools: {p: {thread: 1}}\n" + t + "expire-snapshots:", "did you mean 'threads'?"},
      {t + "rewrite-data-file: {min-input-files: 2}",
       "f.yaml:4: no option named 'rewrite-data-file'; did you mean 'rewrite-data-files'?"},
      {t + "rewrite-data-files: {min-inputfiles: 2}", "did you mean 'min-input-files'?"},
      {t + "rewrite-data-files: {schedule: {commit-cuont: 2}}",
       "did you mean 'schedule.commit-count'?"},
      {t + "rewrite-data-files: {schedule: {all-of: [{commits: 2}]}}", "no option named 'commits'"},
      {t + "rewrite-data-files: {schedule: {commit-count: 0}}",
       "commit-count is 0 but must be at least 1"},
      {t + "rewrite-data-files: {schedule: {interval: 10}}", "schedule.interval"},
      {t + "rewrite-data-files: {schedule: {cron: '61 * * * *'}}", "'61' is no minute"},
      {t + "rewrite-data-files: {schedule: {quiet-hours: always}}", "are no quiet hours"},
      {t + "rewrite-data-files: {min-input-files: two}", "'two' is no number"},
      {t + "rewrite-data-files: {parallelism: 0}", "parallelism must be at least 1"},
      {t + "rewrite-data-files: {verify: yes}", "'yes' is neither true nor false"},
      {t + "rewrite-data-files: {slot-sharing-group: havy}\n  pools: {heavy: {}}",
       "slot-sharing-group 'havy' is no pool: add it to maintenance.pools; did you mean 'heavy'?"},
      {t + "flink-maintenance.rewrite.enabeld: true",
       "did you mean 'flink-maintenance.rewrite.enabled'?"},
      {t + "flink-maintenance.rewrite.enabled: yes", "'yes' is neither true nor false"},
      {t + "flink-maintenance.rewrite.target-file-size: 5",
       "did you mean 'flink-maintenance.rewrite.target-file-size-bytes'?"},
      {t + "flink-maintenance.expire-snapshots.max-snapshot-age: 5",
       "did you mean 'flink-maintenance.expire-snapshots.max-snapshot-age-seconds'?"},
      {t + "flink-maintenance.expire-snapshots.schedule.data-file-count: 5", "no option named"},
      {t + "flink-maintenance.rate-limit-seconds: 60s", "'60s' is no number"},
      {t + "flink-maintenance.rate-limit-seconds: 0\n      expire-snapshots:",
       "rate-limit is 0 ms"},
      {t + "policy: jave\n      expire-snapshots:", "policy 'jave' is neither default nor java"},
      {t + "max-read-back: 0\n      expire-snapshots:", "max-read-back must be at least 1"},
      {t + "rate-limit: [1s]\n      expire-snapshots:", "rate-limit is no list"},
      {t + "lock-lease: 0s\n      expire-snapshots:",
       "f.yaml:4: lock-lease: a lease below 1s is lost by accident"},
      {t + "lock-lease: 999ms\n      expire-snapshots:", "a lease below 1s is lost by accident"},
      {"  defaults: {lock-lease: -5s}\n" + t + "expire-snapshots:", "lock-lease"},
  };
  for (const BadCase& test : cases) {
    EXPECT_THAT(Read(test.yaml), HasError(Code::kInvalidArgument, HasSubstr(test.message)))
        << test.yaml;
  }
}

TEST(MaintenanceConfigTest, ASecretThatIsMissingIsNamed) {
  EXPECT_THAT(Read("  tables:\n    c.db.t:\n      lock: {jdbc.password: '${env:NO_SUCH}'}"),
              HasError(Code::kNotFound, AllOf(HasSubstr("f.yaml:4"), HasSubstr("NO_SUCH"))));
}

TEST(MaintenanceGuardsTest, TablesThatOthersMaintain) {
  const Properties s3_tables[] = {
      {{"catalog-impl", "software.amazon.s3tables.iceberg.S3TablesCatalog"}},
      {{"warehouse", "arn:aws:s3tables:us-east-1:123:bucket/b"}},
      {{"warehouse", "123:s3tablescatalog/b"}},
      {{"rest.signing-name", "s3tables"}},
  };
  for (const Properties& catalog : s3_tables) {
    for (const std::string_view task : {"rewrite-data-files", "expire-snapshots",
                                        "delete-orphan-files", "convert-equality-deletes"}) {
      EXPECT_THAT(CheckGuards(catalog, {}, task),
                  HasError(Code::kUnsupported, HasSubstr("S3 Tables maintains its tables itself")));
      EXPECT_EQ(CheckGuards(catalog, {.service_expiry_disabled = true}, task).has_value(),
                task == "expire-snapshots");
    }
  }
  const Properties other = {{"warehouse", "s3://s3tables/w"}, {"rest.signing-name", "glue"}};
  for (const std::string_view task : {"rewrite-data-files", "expire-snapshots"}) {
    EXPECT_THAT(CheckGuards(other, {}, task), IsOk());
    EXPECT_EQ(CheckGuards(other, {.glue_compaction = true}, task).has_value(),
              task != "rewrite-data-files");
  }
}

}  // namespace
}  // namespace icewright
