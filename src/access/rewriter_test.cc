#include <gtest/gtest.h>

#include <random>

#include "access/css_rewriter.h"
#include "access/html_rewriter.h"
#include "access/script_rewriter.h"
#include "access/test_access.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::Serving;
using testing::WarcText;

constexpr std::string_view kPage = "http://a.org/dir/page";

std::string Rewrite(std::string_view html, std::size_t piece = 1 << 20, std::string banner = "") {
  UrlRewriter urls("/web/2014", kPage);
  HtmlRewriter rewriter(urls, std::move(banner));
  std::string out;
  for (std::size_t at = 0; at < html.size(); at += piece) {
    rewriter.Feed(html.substr(at, piece), out);
  }
  rewriter.Finish(out);
  return out;
}

std::string RewriteProgram(std::string_view script) {
  return RewriteScript(script, UrlRewriter("/web/2014", kPage));
}

std::string RewriteStyle(std::string_view css) {
  return RewriteCss(css, UrlRewriter("/web/2014", kPage));
}

// A piece of a page, and what becomes of it wherever it stands.
constexpr std::pair<std::string_view, std::string_view> kPieces[] = {
    {"<a href=\"http://b.org/x\">", "<a href=\"/web/2014mp_/http://b.org/x\">"},
    {"<A HREF = 'HTTPS://b.org/x?a=1&amp;b=2' >",
     "<A HREF = '/web/2014mp_/HTTPS://b.org/x?a=1&amp;b=2' >"},
    {"<a href=//b.org/x>", "<a href=/web/2014mp_/http://b.org/x>"},
    {"<a href=\" /x \">", "<a href=\" /web/2014mp_/http://a.org/x \">"},
    {"<a href=\"../x\">", "<a href=\"/web/2014mp_/http://a.org/x\">"},
    {"<a href=\"&#104;ttp://b.org/\">", "<a href=\"/web/2014mp_/&#104;ttp://b.org/\">"},
    {"<img src=/i.png>", "<img src=/web/2014im_/http://a.org/i.png>"},
    {"<script src=/s.js></script>", "<script src=/web/2014js_/http://a.org/s.js></script>"},
    {"<link rel=stylesheet href=/c.css>",
     "<link rel=stylesheet href=/web/2014cs_/http://a.org/c.css>"},
    {"<iframe src=/f></iframe>", "<iframe src=/web/2014if_/http://a.org/f></iframe>"},
    {"<frame src=/f>", "<frame src=/web/2014fr_/http://a.org/f>"},
    {"<form action=/go>", "<form action=/web/2014mp_/http://a.org/go>"},
    {"<img srcset=\"/a.png 1x, b.png 2x,http://c.org/c.png\">",
     "<img srcset=\"/web/2014im_/http://a.org/a.png 1x, b.png "
     "2x,/web/2014im_/http://c.org/c.png\">"},
    {"<p style=\"background: url('/b.png')\">",
     "<p style=\"background: url('/web/2014im_/http://a.org/b.png')\">"},
    {"<style>a { b: url(/c.png) }</style>",
     "<style>a { b: url(/web/2014im_/http://a.org/c.png) }</style>"},
    {"<meta http-equiv=refresh content=\"5; url=/next\">",
     "<meta http-equiv=refresh content=\"5; url=/web/2014mp_/http://a.org/next\">"},
    {"<link rel=preload imagesrcset='/a.png 1x, /b.png 2x'>",
     "<link rel=preload imagesrcset='/web/2014im_/http://a.org/a.png 1x, "
     "/web/2014im_/http://a.org/b.png 2x'>"},
    {"<script>location = '/go'; var u = \"http://b.org/x.js\";</script>",
     "<script>location = '/web/2014mp_/http://a.org/go'; var u = "
     "\"/web/2014js_/http://b.org/x.js\";</script>"},
    {"<script type=application/ld+json>{\"@id\": \"http://b.org/x\"}</script>",
     "<script type=application/ld+json>{\"@id\": \"http://b.org/x\"}</script>"},
    {"<p onclick=\"location.href='/go'\">",
     "<p onclick=\"location.href='/web/2014mp_/http://a.org/go'\">"},
    {"<iframe srcdoc='<a href=\"/x\">1 < 2</a>'></iframe>",
     "<iframe srcdoc='<a href=\"/web/2014mp_/http://a.org/x\">1 < 2</a>'></iframe>"},
    {"<iframe srcdoc=\"<a href=&quot;/x&quot;>\"></iframe>",
     "<iframe srcdoc=\"&lt;a&#32;href=&#34;/web/2014mp_/http://a.org/x&#34;&gt;\"></iframe>"},
    {"<iframe srcdoc=\"<p>&lt;\"></iframe>", "<iframe srcdoc=\"<p>&lt;\"></iframe>"},
    {"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src x\">",
     "<meta http-equiv=\"X-Archive-Orig-Content-Security-Policy\" content=\"default-src x\">"},
    {"<script integrity=sha384-x src=/s></script>",
     "<script data-archive-integrity=sha384-x src=/web/2014js_/http://a.org/s></script>"},
};

TEST(HtmlRewriting, W15_ReferencesLeadIntoTheArchive) {
  for (const auto& [before, after] : kPieces) {
    EXPECT_EQ(Rewrite(before), after);
    EXPECT_EQ(Rewrite(before, 1), after);
  }
  constexpr std::string_view kBase = "<base href=\"http://c.org/d/\"><a href=/x>";
  EXPECT_EQ(Rewrite(kBase),
            "<base href=\"/web/2014mp_/http://c.org/d/\"><a href=/web/2014mp_/http://c.org/x>");
}

// Pages put together by chance, cut anywhere: each piece becomes what it becomes alone, and all
// bytes between them stay.
TEST(HtmlRewriting, W15_WhatStandsBetweenReferencesKeepsItsBytes) {
  std::mt19937 random(15);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 300; ++round) {
    std::string page;
    std::string expected;
    for (std::size_t pieces = below(12); pieces > 0; --pieces) {
      std::string filler;
      for (std::size_t n = below(40); n > 0; --n) {
        const char c = static_cast<char>(below(256));
        filler += c == '<' ? ' ' : c;
      }
      const auto& [before, after] = kPieces[below(std::size(kPieces))];
      page += filler;
      page += before;
      expected += filler;
      expected += after;
    }
    ASSERT_EQ(Rewrite(page, 1 + below(100)), expected) << page;
  }
}

TEST(HtmlRewriting, W15_AllElseKeepsItsBytes) {
  for (const std::string_view page :
       {"<a href=\"x/y?z#f\">", "<a href=#top>", "<a href=\"javascript:go('/x')\">",
        "<img src=\"data:image/png;base64,AAAA\">", "<a href=mailto:a@b.org>",
        "<script>var x = 'http://' + b; if (a < b) { '</p>' }</script>",
        "<!-- <a href=http://b.org/> -->", "<textarea><a href=http://b.org/></textarea>",
        "<title>http://b.org/ \xE4\xF6\xFC</title>\r\n\r\n", "plain", "<", "<a href=\"http://b.o",
        "<p\n class = x>&nbsp;&bogus;\x00 text</p>", "</>", "<![CDATA[ x ]]>"}) {
    EXPECT_EQ(Rewrite(page), page);
    EXPECT_EQ(Rewrite(page, 1), page);
  }
}

TEST(HtmlRewriting, W15_TheBannerStandsInTheBody) {
  EXPECT_EQ(Rewrite("<html><body class=x><p>", 1 << 20, "[b]"), "<html><body class=x>[b]<p>");
  EXPECT_EQ(Rewrite("<p>x", 1 << 20, "[b]"), "<p>x[b]");
}

TEST(CssRewriting, W15_ReferencesLeadIntoTheArchive) {
  EXPECT_EQ(RewriteStyle("@import \"/x.css\"; a{b:url( http://c.org/d )}"),
            "@import \"/web/2014cs_/http://a.org/x.css\"; a{b:url( "
            "/web/2014im_/http://c.org/d )}");
  for (const std::string_view css : {"a{b:url(c.png)}", "/* url(/x) */", "a{b:url(data:x)}",
                                     "a::before{content:\"http://x.org/\"}", ""}) {
    EXPECT_EQ(RewriteStyle(css), css);
  }
}

TEST(ScriptRewriting, W15_SimpleReferencesLeadIntoTheArchive) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"a = \"https://b.org/x\"", "a = \"/web/2014mp_/https://b.org/x\""},
      {"a = 'http://b.org/x.js?v=1'", "a = '/web/2014js_/http://b.org/x.js?v=1'"},
      {"a = `//b.org/x.css`", "a = `/web/2014cs_/http://b.org/x.css`"},
      {"{\"u\":\"http:\\/\\/b.org\\/x.png\"}", "{\"u\":\"/web/2014im_/http:\\/\\/b.org\\/x.png\"}"},
      {"a='http://b.org/x';b='http://b.org/y'",
       "a='/web/2014mp_/http://b.org/x';b='/web/2014mp_/http://b.org/y'"},
      {"window.location='/go'", "window.location='/web/2014mp_/http://a.org/go'"},
      {"location.href = \"/go?a=1\"", "location.href = \"/web/2014mp_/http://a.org/go?a=1\""},
      {"document.location.replace( '/go')",
       "document.location.replace( '/web/2014mp_/http://a.org/go')"},
      {"location.assign('/go')", "location.assign('/web/2014mp_/http://a.org/go')"},
      {"location='http://b.org/go'", "location='/web/2014mp_/http://b.org/go'"},
  };
  for (const auto& [before, after] : kCases) EXPECT_EQ(RewriteProgram(before), after);
}

TEST(ScriptRewriting, W15_AllElseKeepsItsBytes) {
  for (const std::string_view script : {"",
                                        "//",
                                        "\"",
                                        "a = b // http://b.org/x",
                                        "/* 'http://b.org */",
                                        "x = 'http://'",
                                        "x = 'http://' + host",
                                        "if (u.indexOf('https://') == 0) {}",
                                        "location == '/go'",
                                        "location.href == '/go'",
                                        "location = path",
                                        "location='go'",
                                        "relocation('/x')",
                                        "createElementNS('http://www.w3.org/2000/svg', 'g')",
                                        "c = \"https://schema.org\"",
                                        "s = 'see http://b.org/x for more'",
                                        "location='/a\\'b'",
                                        "location='/${a}'",
                                        "r = /https?:\\/\\//",
                                        "location.hash = '/x'",
                                        "a = 'http://b.org/\n'"}) {
    EXPECT_EQ(RewriteProgram(script), script);
  }
}

class ReducedReplay : public Serving {};

TEST_F(ReducedReplay, W15_PagesRunInASandbox) {
  Bring(WarcText()
            .Response("http://a.org/", "2014-01-01T00:00:00Z", "<body><img src=/i.png>")
            .Response("http://a.org/i.png", "2014-01-02T00:00:00Z", "png", "image/png")
            .Response("http://a.org/c.css", "2014-01-02T00:00:00Z", "a{b:url(/i.png)}", "text/css")
            .Response("http://a.org/s.js", "2014-01-02T00:00:00Z", "location='/x'", "text/plain")
            .Block("http://a.org/away", "2014-01-01T00:00:00Z",
                   "HTTP/1.1 302 Found\r\nLocation: http://b.org/\r\nSet-Cookie: a=b\r\n\r\n"));
  Serve();
  const Answer page = Get("/web/20140101000000mp_/http://a.org/");
  EXPECT_EQ(page.body, "<body><img src=/web/20140101000000im_/http://a.org/i.png>");
  EXPECT_TRUE(page.Header("Content-Security-Policy").starts_with("sandbox allow-scripts"));
  EXPECT_EQ(page.Header("Content-Security-Policy").find("allow-same-origin"), std::string::npos);
  EXPECT_NE(Get("/web/20140101000000/http://a.org/", "Sec-Fetch-Dest: document\r\n")
                .body.find("reduced replay"),
            std::string::npos);
  EXPECT_EQ(Get("/web/2013mp_/http://a.org/").Header("Location"),
            "/web/20140101000000mp_/http://a.org/");
  // What is embedded comes at once, from the nearest time.
  EXPECT_EQ(Get("/web/20140101000000im_/http://a.org/i.png").body, "png");
  EXPECT_EQ(Get("/web/20140101000000cs_/http://a.org/c.css").body,
            "a{b:url(/web/20140101000000im_/http://a.org/i.png)}");
  EXPECT_EQ(Get("/web/20140101000000js_/http://a.org/s.js").body,
            "location='/web/20140101000000mp_/http://a.org/x'");
  const Answer away = Get("/lab/web/20140101000000mp_/http://a.org/away");
  EXPECT_EQ(away.Header("Location"), "/lab/web/20140101000000mp_/http://b.org/");
  EXPECT_EQ(away.Header("Set-Cookie"), "");
  EXPECT_EQ(Get("/web/20140101000000mp_/http://c.org/").status, 404);
}

// Modifiers say what a reference is used for; those that say nothing leave it to the media type.
TEST_F(ReducedReplay, W15_EveryModifierIsAnswered) {
  const std::string page = "<a href=/x>";
  const std::string sheet = "a{b:url(/x)}";
  const std::string script = "location='/x'";
  Bring(WarcText()
            .Response("http://a.org/p", "2014-01-01T00:00:00Z", page)
            .Response("http://a.org/c", "2014-01-01T00:00:00Z", sheet, "text/css")
            .Response("http://a.org/s", "2014-01-01T00:00:00Z", script, "text/javascript"));
  Serve();
  const std::string web = "/web/20140101000000";
  const auto body = [&](const std::string& modifier, const std::string& name) {
    return Get(web + modifier + "/http://a.org/" + name).body;
  };
  const std::string new_page = "<a href=" + web + "mp_/http://a.org/x>";
  const std::string new_sheet = "a{b:url(" + web + "im_/http://a.org/x)}";
  const std::string new_script = "location='" + web + "mp_/http://a.org/x'";
  for (const std::string modifier :
       {"", "mp_", "if_", "fr_", "oe_", "sw_", "wkr_", "wkrf_", "ir_", "bn_", "vi_", "zz_"}) {
    EXPECT_EQ(body(modifier, "p"), new_page) << modifier;
    EXPECT_EQ(body(modifier, "c"), new_sheet) << modifier;
    EXPECT_EQ(body(modifier, "s"), new_script) << modifier;
  }
  for (const std::string modifier : {"id_", "im_"}) {
    EXPECT_EQ(body(modifier, "p"), page) << modifier;
    EXPECT_EQ(body(modifier, "c"), sheet) << modifier;
    EXPECT_EQ(body(modifier, "s"), script) << modifier;
  }
  EXPECT_EQ(body("cs_", "c"), new_sheet);
  EXPECT_EQ(body("js_", "s"), new_script);
  // Documents lead to their own time; what they embed comes at once.
  for (const std::string modifier : {"", "id_", "mp_", "if_", "fr_"}) {
    EXPECT_EQ(Get("/web/2013" + modifier + "/http://a.org/p").Header("Location"),
              web + modifier + "/http://a.org/p");
  }
  for (const std::string modifier : {"js_", "cs_", "im_", "oe_", "sw_", "wkr_"}) {
    EXPECT_EQ(Get("/web/2013" + modifier + "/http://a.org/s").status, 200) << modifier;
  }
}

TEST_F(ReducedReplay, W15_LargePagesAreStreamed) {
  std::string page = "<body>";
  std::string rewritten = page;
  for (int i = 0; page.size() < (3 << 20); ++i) {
    page += fmt::format("<a href=\"/item/{}\">{}</a>\n", i, i);
    rewritten +=
        fmt::format("<a href=\"/web/20140101000000mp_/http://a.org/item/{}\">{}</a>\n", i, i);
  }
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", page));
  Serve();
  EXPECT_EQ(Get("/web/20140101000000mp_/http://a.org/").body, rewritten);
}

}  // namespace
}  // namespace stele::access
