#include "util/json.h"

#include <gtest/gtest.h>

namespace stele {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(Json, EscapesWhatMustBe) {
  EXPECT_EQ(Json("a\"b\\c\n\r\t\x01\x7f"), R"("a\"b\\c\n\r\t\u0001\u007f")");
  EXPECT_EQ(Json(""), "\"\"");
}

TEST(Json, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_EQ(Json("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\x8d"),
            "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\x8d\"");
  // Latin-1, overlong, a surrogate, beyond U+10FFFF, cut off.
  for (const char* bad : {"\xe4", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    const std::string json = Json(bad);
    EXPECT_EQ(json.substr(0, 4), "\"\xef\xbf\xbd") << json;
  }
}

}  // namespace
}  // namespace stele
