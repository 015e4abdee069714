#include "cli/visible_text.h"

#include <gtest/gtest.h>

#include "catalog/capture.h"
#include "cli/capture_line.h"

namespace stele::cli {
namespace {

TEST(VisibleText, StrangersDoNotActOnTheTerminal) {
  EXPECT_EQ(VisibleText("http://a.org/\x1b[31m\a\r\x7f"), "http://a.org/\\x1b[31m\\x07\\x0d\\x7f");
  EXPECT_EQ(VisibleText("two\nlines\tand \xc3\xbc"), "two\nlines\tand \xc3\xbc");
  // C1 controls, and what turns the direction of the text.
  EXPECT_EQ(VisibleText("\xc2\x9b"
                        "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(VisibleText("\xe2\x80\xae-\xe2\x81\xa6-\xe2\x80\xa6"),
            "\\xe2\\x80\\xae-\\xe2\\x81\\xa6-\xe2\x80\xa6");
  EXPECT_EQ(VisibleText("cut \xe2\x80"), "cut \xe2\x80");
  catalog::Capture row;
  row.url = "http://a.org/\x1b]0;title\a";
  row.type = "\x1b[2J";
  EXPECT_EQ(CaptureText(row).find_first_of("\x1b\a"), std::string::npos);
}

}  // namespace
}  // namespace stele::cli
