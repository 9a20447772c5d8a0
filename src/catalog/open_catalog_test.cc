#include "catalog/catalog.h"
#include "io/memory_file_io.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OpenCatalogTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<Catalog>> Open(const Properties& properties) {
    return OpenCatalog(run_, "cat", properties, MakeMemoryFileIO());
  }
  RunContext run_{RunOptions{}};
};

TEST_F(OpenCatalogTest, FindsTheKind) {
  const std::string sqlite = "jdbc:sqlite::memory:";
  struct Case {
    Properties properties;
    bool keeps_namespace_properties;  // the file-system catalog does not
  };
  for (const Case& c : {
           Case{{{"type", "hadoop"}, {"warehouse", "w"}}, false},
           Case{{{"type", "HADOOP"}, {"warehouse", "w"}}, false},
           Case{{{"type", "iceberg"}, {"catalog-type", "hadoop"}, {"warehouse", "w"}}, false},
           Case{{{"catalog-impl", "org.apache.iceberg.hadoop.HadoopCatalog"}, {"warehouse", "w"}},
                false},
           Case{{{"type", "jdbc"}, {"uri", sqlite}}, true},
           Case{{{"type", "sql"}, {"uri", "sqlite://"}}, true},
           Case{{{"uri", sqlite}}, true},
           Case{{{"catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog"}, {"uri", sqlite}}, true},
           Case{{{"type", "in-memory"}, {"warehouse", "w"}}, true},
       }) {
    const auto catalog = Open(c.properties);
    ASSERT_THAT(catalog, IsOk()) << c.properties.begin()->second;
    EXPECT_EQ((*catalog)->name(), "cat");
    const Status made = (*catalog)->CreateNamespace(run_, {"db"}, {{"k", "v"}});
    if (c.keeps_namespace_properties) {
      EXPECT_THAT(made, IsOk());
    } else {
      EXPECT_THAT(made, HasCode(Code::kUnsupported));
    }
  }
}

TEST_F(OpenCatalogTest, SaysWhatIsWrong) {
  struct Case {
    Properties properties;
    Code code;
    const char* part;
  };
  for (const Case& c : {
           Case{{}, Code::kInvalidArgument, "type is missing"},
           Case{{{"type", "iceberg"}}, Code::kInvalidArgument, "type is missing"},
           Case{{{"uri", "http://h"}}, Code::kInvalidArgument, "type is missing"},
           Case{{{"type", "hadop"}}, Code::kInvalidArgument, "did you mean 'hadoop'"},
           Case{{{"type", "mainframe"}}, Code::kInvalidArgument, "known are jdbc, sql, hadoop"},
           Case{{{"type", "hive"}}, Code::kUnsupported, "not built in; there are jdbc"},
           Case{{{"type", "jdbc"}, {"catalog-impl", "x"}}, Code::kInvalidArgument, "give one"},
           Case{{{"catalog-impl", "com.example.Mine"}}, Code::kInvalidArgument, "com.example.Mine"},
           Case{{{"type", "hadoop"}}, Code::kInvalidArgument, "warehouse"},
           Case{{{"type", "jdbc"}}, Code::kInvalidArgument, "uri"},
           Case{{{"type", "jdbc"}, {"uri", "oracle://u:hunter2@h/d"}},
                Code::kInvalidArgument,
                "jdbc:postgresql:"},
       }) {
    const auto catalog = Open(c.properties);
    EXPECT_THAT(catalog, HasError(c.code, HasSubstr(c.part)));
    if (catalog) continue;
    EXPECT_EQ(catalog.error().message().find("hunter2"), std::string::npos);
  }
  EXPECT_THAT(
      Open({{"type", "nothing"}}),
      HasError(Code::kInvalidArgument, AllOf(HasSubstr("catalog cat"), HasSubstr("nothing"))));
}

}  // namespace
}  // namespace icewright
