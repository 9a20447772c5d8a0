#include "database/sql_url.h"

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Text(const SqlUrl& url) {
  switch (url.dialect) {
    case SqlDialect::kSqlite:
      return "sqlite " + url.file;
    case SqlDialect::kPostgres:
    case SqlDialect::kMariaDb:
      break;
  }
  std::string text = url.dialect == SqlDialect::kPostgres ? "postgres " : "mariadb ";
  text += url.user + ":" + url.password + "@" + url.host + ":" + url.port + "/" + url.database;
  for (const auto& [key, value] : url.options) text += " " + key + "=" + value;
  return text;
}

TEST(ParseSqlUrlTest, ReadsEachSpelling) {
  struct Case {
    const char* uri;
    const char* expected;
  };
  for (const Case& c : {
           Case{"jdbc:sqlite:file:/w/c.db", "sqlite file:/w/c.db"},
           Case{"jdbc:sqlite:file:/w/c.db?mode=ro", "sqlite file:/w/c.db?mode=ro"},
           Case{"jdbc:sqlite:/w/c.db", "sqlite /w/c.db"},
           Case{"jdbc:sqlite:/w/c.db?journal_mode=WAL", "sqlite /w/c.db"},
           Case{"jdbc:sqlite:rel.db", "sqlite rel.db"},
           Case{"jdbc:sqlite:", "sqlite :memory:"},
           Case{"jdbc:sqlite::memory:", "sqlite :memory:"},
           Case{"sqlite:////w/c.db", "sqlite /w/c.db"},
           Case{"sqlite:///rel/c.db", "sqlite rel/c.db"},
           Case{"sqlite://", "sqlite :memory:"},
           Case{"jdbc:postgresql://h:5433/db?user=u&password=p%26w&sslmode=require",
                "postgres u:p&w@h:5433/db sslmode=require"},
           Case{"jdbc:postgresql:db", "postgres :@:/db"},
           Case{"jdbc:postgresql://a:1,b:2/db", "postgres :@a:1,b:2/db"},
           Case{"postgresql+psycopg2://u:p%40w@h/db", "postgres u:p@w@h:/db"},
           Case{"postgres://u@[::1]:5432/db", "postgres u:@::1:5432/db"},
           Case{"jdbc:mysql://h/db?useSSL=true", "mariadb :@h:/db useSSL=true"},
           Case{"jdbc:mariadb://h:3307/db?user=u", "mariadb u:@h:3307/db"},
           Case{"mysql+pymysql://u:p@h:3306/db", "mariadb u:p@h:3306/db"},
           Case{"JDBC", nullptr},
           Case{"s3://bucket/x", nullptr},
           Case{"jdbc:oracle:thin:@h", nullptr},
           Case{"thrift://h:9083", nullptr},
           Case{"", nullptr},
           Case{"sqlite:x.db", nullptr},
           Case{"jdbc:postgresql://h", nullptr},
           Case{"jdbc:mysql://h/", nullptr},
       }) {
    const auto url = ParseSqlUrl(c.uri, {});
    if (c.expected == nullptr) {
      EXPECT_THAT(url, HasCode(Code::kInvalidArgument)) << c.uri;
    } else {
      ASSERT_THAT(url, IsOk()) << c.uri;
      EXPECT_EQ(Text(*url), c.expected) << c.uri;
    }
  }
}

TEST(ParseSqlUrlTest, PropertiesFillInWhatTheUrlLacks) {
  const SqlProperties properties = {{"jdbc.user", "me"},
                                    {"jdbc.password", "secret"},
                                    {"jdbc.sslmode", "verify-full"},
                                    {"warehouse", "x"}};
  IW_ASSERT_OK_AND_ASSIGN(const SqlUrl url, ParseSqlUrl("jdbc:postgresql://h/db", properties));
  EXPECT_EQ(Text(url), "postgres me:secret@h:/db sslmode=verify-full");
  IW_ASSERT_OK_AND_ASSIGN(
      const SqlUrl both,
      ParseSqlUrl("jdbc:postgresql://h/db?user=you&sslmode=disable", properties));
  EXPECT_EQ(Text(both), "postgres you:secret@h:/db sslmode=disable");
}

TEST(ParseSqlUrlTest, MessagesHoldNoSecret) {
  IW_ASSERT_OK_AND_ASSIGN(const SqlUrl url,
                          ParseSqlUrl("postgresql://u:hunter2@h:1/db?password=hunter2", {}));
  EXPECT_EQ(url.Display(), "PostgreSQL h:1/db");
  IW_ASSERT_OK_AND_ASSIGN(const SqlUrl file, ParseSqlUrl("jdbc:sqlite:file:/x?key=hunter2", {}));
  EXPECT_EQ(file.Display(), "SQLite file:/x");
  for (const char* uri : {"oracle://u:hunter2@h/db", "postgresql://u:hunter2@h",
                          "jdbc:oracle:thin:u/hunter2@h", "u:hunter2@h/db"}) {
    const auto bad = ParseSqlUrl(uri, {});
    ASSERT_FALSE(bad) << uri;
    EXPECT_THAT(bad.error().message(), Not(HasSubstr("hunter2"))) << uri;
  }
}

TEST(ParseSqlUrlTest, RecognizesDatabases) {
  for (const char* uri :
       {"jdbc:sqlite:x", "sqlite:///x", "postgresql+asyncpg://h/d", "mysql://h/d"}) {
    EXPECT_TRUE(IsSqlUrl(uri)) << uri;
  }
  for (const char* uri : {"http://h", "thrift://h", "", "jdbc:", "file:/x"}) {
    EXPECT_FALSE(IsSqlUrl(uri)) << uri;
  }
}

}  // namespace
}  // namespace icewright
