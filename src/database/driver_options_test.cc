#include "database/driver_options.h"

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Text(const DriverOptions& options) {
  static constexpr const char* kTls[] = {"", "off", "on", "verify-ca", "verify-full"};
  std::string text = kTls[static_cast<int>(options.tls)];
  const auto add = [&](const std::string& key, const std::string& value) {
    if (value.empty()) return;
    if (!text.empty()) text += " ";
    text += key + "=" + value;
  };
  add("ca", options.ca_file);
  add("cert", options.certificate_file);
  add("key", options.key_file);
  if (options.connect_timeout != DriverOptions().connect_timeout) {
    add("connect", std::to_string(options.connect_timeout.count()));
  }
  if (options.answer_timeout > Milliseconds(0)) {
    add("answer", std::to_string(options.answer_timeout.count()));
  }
  for (const auto& [key, value] : options.libpq) add(key, value);
  return text;
}

TEST(DriverOptionsTest, TranslatesWhatDriversOfJavaMean) {
  struct Case {
    const char* uri;
    const char* expected;  // null: an error
  };
  for (const Case& c : {
           Case{"jdbc:postgresql://h/d", ""},
           Case{"jdbc:postgresql://h/d?ssl=true", "verify-full"},
           Case{"jdbc:postgresql://h/d?ssl", "verify-full"},
           Case{"jdbc:postgresql://h/d?ssl=false", ""},
           Case{"jdbc:postgresql://h/d?ssl=true&sslmode=require", "on"},
           Case{"jdbc:postgresql://h/d?ssl=true&sslmode=disable", "off"},
           Case{"jdbc:postgresql://h/d?sslmode=verify-ca&sslrootcert=/c.pem&sslcert=/a&sslkey=/k",
                "verify-ca ca=/c.pem cert=/a key=/k"},
           Case{"jdbc:postgresql://h/d?sslmode=often", nullptr},
           Case{"jdbc:postgresql://h/d?ApplicationName=x&currentSchema=ops",
                "application_name=x options=-csearch_path=ops"},
           Case{"jdbc:postgresql://h/d?connectTimeout=3&socketTimeout=4",
                "connect=3000 answer=4000"},
           Case{"jdbc:postgresql://h/d?connectTimeout=soon", nullptr},
           Case{"jdbc:postgresql://a,b/d?targetServerType=primary", "target_session_attrs=primary"},
           Case{"jdbc:postgresql://a,b/d?targetServerType=secondary", nullptr},
           Case{"jdbc:postgresql://h/d?tcpKeepAlive=true&prepareThreshold=0", "keepalives=1"},
           Case{"jdbc:postgresql://h/d?sslfactory=org.X", nullptr},
           Case{"jdbc:mysql://h/d?useSSL=true", "on"},
           Case{"jdbc:mysql://h/d?useSSL=true&verifyServerCertificate=true", "verify-full"},
           Case{"jdbc:mysql://h/d?sslMode=VERIFY_IDENTITY", "verify-full"},
           Case{"jdbc:mysql://h/d?sslMode=PREFERRED&useSSL=true", ""},
           Case{"jdbc:mariadb://h/d?sslMode=trust&serverSslCert=/c.pem", "on ca=/c.pem"},
           Case{"jdbc:mysql://h/d?connectTimeout=3000&socketTimeout=4000",
                "connect=3000 answer=4000"},
           Case{"jdbc:mysql://h/d?serverTimezone=UTC&useUnicode=true", ""},
           Case{"jdbc:mysql://h/d?allowLoadLocalInfile=true", nullptr},
       }) {
    IW_ASSERT_OK_AND_ASSIGN(const SqlUrl url, ParseSqlUrl(c.uri, {}));
    const auto options = TranslateOptions(url, UnknownOption::kError);
    if (c.expected == nullptr) {
      EXPECT_THAT(options, HasCode(Code::kInvalidArgument)) << c.uri;
    } else {
      ASSERT_THAT(options, IsOk()) << c.uri;
      EXPECT_EQ(Text(*options), c.expected) << c.uri;
    }
  }
}

TEST(DriverOptionsTest, AnUnknownPropertyIsNamedWithTheTableAndWithoutItsValue) {
  IW_ASSERT_OK_AND_ASSIGN(const SqlUrl url,
                          ParseSqlUrl("jdbc:postgresql://h/d?sslfactory=hunter2", {}));
  EXPECT_THAT(
      TranslateOptions(url, UnknownOption::kError),
      HasError(Code::kInvalidArgument, AllOf(HasSubstr("sslfactory"), HasSubstr("docs/locks.md"),
                                             Not(HasSubstr("hunter2")))));
  EXPECT_THAT(TranslateOptions(url, UnknownOption::kIgnore), IsOk());
}

TEST(DriverOptionsTest, TellsWhatCanBeReadOnTheWay) {
  struct Case {
    const char* uri;
    bool plain;
  };
  for (const Case& c :
       {Case{"jdbc:postgresql://db3/d", true}, Case{"jdbc:postgresql://db3/d?sslmode=prefer", true},
        Case{"jdbc:postgresql://db3/d?sslmode=require", false},
        Case{"jdbc:postgresql://127.0.0.1/d", false}, Case{"jdbc:postgresql://localhost/d", false},
        Case{"jdbc:postgresql://[::1]:5432/d", false}, Case{"jdbc:postgresql:d", false},
        Case{"jdbc:mysql://10.0.0.7/d", true}, Case{"jdbc:mysql://10.0.0.7/d?useSSL=true", false},
        Case{"jdbc:sqlite:/x.db", false}}) {
    IW_ASSERT_OK_AND_ASSIGN(const SqlUrl url, ParseSqlUrl(c.uri, {}));
    IW_ASSERT_OK_AND_ASSIGN(const DriverOptions options,
                            TranslateOptions(url, UnknownOption::kError));
    EXPECT_EQ(CrossesNetworkInPlain(url, options), c.plain) << c.uri;
  }
}

}  // namespace
}  // namespace icewright
