#include "crawl/page_trouble.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

using Kind = PageTrouble::Kind;

std::optional<PageTrouble> Find(int status, std::string_view content,
                                std::initializer_list<http::Field> fields = {}) {
  http::Headers headers;
  for (const http::Field& field : fields) headers.Add(field.name, field.value);
  return FindTrouble(status, headers, content);
}

std::string Prose(std::size_t words) {
  std::string text = "<p>";
  for (std::size_t i = 0; i < words; ++i) text += fmt::format("reading {} ", i);
  return text;
}

TEST(PageTrouble, I1_ChallengesAreKnownByHeadersAndByTheirOwnWords) {
  EXPECT_EQ(Find(403, "<p>wait", {{"CF-Mitigated", "challenge"}}),
            (PageTrouble{Kind::kChallenge, "Cloudflare"}));
  EXPECT_EQ(Find(202, "", {{"x-amzn-waf-action", "challenge"}}),
            (PageTrouble{Kind::kChallenge, "AWS-WAF"}));
  EXPECT_EQ(Find(503, "<html><script>window._cf_chl_opt={}</script>"),
            (PageTrouble{Kind::kChallenge, "Cloudflare"}));
  EXPECT_EQ(Find(200,
                 "<title>Making sure you're not a bot!</title><script "
                 "src=\"/.within.website/x/cmd/anubis/static/js/main.mjs\"></script>"),
            (PageTrouble{Kind::kChallenge, "Anubis"}));
  EXPECT_EQ(Find(429, "<form><div class=\"h-captcha\"></div></form>" + Prose(2000)),
            (PageTrouble{Kind::kChallenge, "hCaptcha"}));
}

TEST(PageTrouble, I1_PagesThatOnlySpeakOfChallengesAreNone) {
  // Watched over and let through.
  EXPECT_FALSE(Find(
      200, "<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>" + Prose(100)));
  // Written about.
  EXPECT_FALSE(Find(200, Prose(400) + "<code>_cf_chl_opt</code>"));
  // A form that wants to know who writes.
  EXPECT_FALSE(Find(200, Prose(100) + "<form><div class=\"g-recaptcha\"></div></form>"));
  // Refused, and no riddle.
  EXPECT_FALSE(Find(403, "<h1>Forbidden</h1>"));
  EXPECT_FALSE(Find(503, "<h1>Back at noon</h1>"));
  EXPECT_FALSE(Find(200, "<p>hello", {{"cf-mitigated", "none"}}));
}

TEST(PageTrouble, I1_PagesThatScriptsFillAreKnown) {
  EXPECT_EQ(Find(200,
                 "<title>Shop</title><body><noscript>You need to enable JavaScript to run "
                 "this app.</noscript><div id=root></div><script src=/main.js></script>"),
            (PageTrouble{Kind::kNeedsScript, "root+noscript"}));
  EXPECT_EQ(Find(200, "<body><app-root></app-root><script src=/main.js></script>"),
            (PageTrouble{Kind::kNeedsScript, "root"}));
  EXPECT_EQ(Find(200,
                 "<script>load()</script><p>Loading<noscript>Please turn on "
                 "JavaScript</noscript>"),
            (PageTrouble{Kind::kNeedsScript, "noscript"}));
  // What scripts say to themselves is nothing to read.
  EXPECT_TRUE(Find(200, fmt::format("<div id=app></div><script>var s = '{}';</script><style>{}"
                                    "</style>",
                                    std::string(5000, 'x'), std::string(5000, 'y'))));
}

TEST(PageTrouble, I1_PagesThatCanBeReadOrLookedAtNeedNoScript) {
  const std::string app = "<div id=root></div><script src=/main.js></script>";
  EXPECT_FALSE(Find(200, "<div id=root>" + Prose(60) + "</div><script src=/main.js></script>"));
  EXPECT_FALSE(Find(200, app + "<img src=1><img src=2><img src=3><img src=4>"));
  EXPECT_FALSE(
      Find(200, "<frameset><frame src=a></frameset><noscript>JavaScript</noscript>" + app));
  EXPECT_FALSE(Find(200, "<meta http-equiv=Refresh content=\"0; url=/next\">" + app));
  EXPECT_FALSE(Find(200, "<div id=root></div>"));
  EXPECT_FALSE(Find(200, "<p>Short.<script>count()</script><noscript><img src=count></noscript>"));
  EXPECT_FALSE(Find(404, app));
  EXPECT_FALSE(Find(200, ""));
}

TEST(PageTrouble, I1_TheLogTellsIt) {
  crawl_log::Line line;
  line.annotations = "2t,duplicate:digest," + AnnotationOf({Kind::kChallenge, "Anubis"});
  std::optional<PageTrouble> trouble = TroubleIn(line);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->kind, Kind::kChallenge);
  EXPECT_EQ(trouble->why, "it looks like a challenge of Anubis");
  line.annotations = AnnotationOf({Kind::kNeedsScript, "root+noscript"});
  trouble = TroubleIn(line);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->why,
            "it has almost no text, but scripts, an element for them to fill, a note that asks for "
            "JavaScript");
  line.annotations = "3t,lenTrunc";
  EXPECT_FALSE(TroubleIn(line));
}

}  // namespace
}  // namespace stele::crawl
