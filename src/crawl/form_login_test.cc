#include "crawl/form_login.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

TEST(FormLogin, I1_TheFormWithTheFieldsIsFilledInWithWhatThePageHides) {
  const LoginForm form = FindLoginForm(
      "<form action=/search><input type=hidden name=lang value=is><input name=q></form>"
      "<form method=post action='/in?a=1&amp;b=2'><input type=HIDDEN name=csrf value='t/1 &amp; 2'>"
      "<input name=user><input type=password name=word><input type=submit name=go value=1></form>"
      "<form action=/other><input type=hidden name=x value=y><input name=user></form>",
      "user=me&word=swordfish");
  EXPECT_EQ(form.action, "/in?a=1&b=2");
  EXPECT_EQ(form.hidden, "csrf=t%2F1+%26+2");
}

TEST(FormLogin, I1_GivenFieldsStandInPlaceOfHiddenOnes) {
  const LoginForm form = FindLoginForm(
      "<form><input type=hidden name=user value=nobody><input type=hidden name=n value=1>",
      "user=me");
  EXPECT_EQ(form.action, "");
  EXPECT_EQ(form.hidden, "n=1");
}

TEST(FormLogin, I1_WithoutSuchAFormThePageItselfIsAsked) {
  const LoginForm form =
      FindLoginForm("<form action=/search><input name=q></form><input name=user>", "user=me");
  EXPECT_EQ(form.action, "");
  EXPECT_EQ(form.hidden, "");
}

}  // namespace
}  // namespace stele::crawl
