#include "cli/visible_text.h"

#include <gtest/gtest.h>

#include "catalog/capture.h"
#include "cli/capture_line.h"

namespace stele::cli {
namespace {

TEST(VisibleText, StrangersDoNotActOnTheTerminal) {
  EXPECT_EQ(VisibleText("http://a.org/\x1b[31m\a\r\x7f"), "http://a.org/\\x1b[31m\\x07\\x0d\\x7f");
  EXPECT_EQ(VisibleText("two\nlines\tand \xc3\xbc"), "two\nlines\tand \xc3\xbc");
  catalog::Capture row;
  row.url = "http://a.org/\x1b]0;title\a";
  row.type = "\x1b[2J";
  EXPECT_EQ(CaptureText(row).find_first_of("\x1b\a"), std::string::npos);
}

}  // namespace
}  // namespace stele::cli
