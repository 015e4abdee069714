#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/html/document_kind.h"
#include "formats/html/link_header.h"
#include "formats/html/link_relation.h"
#include "formats/html/link_testing.h"
#include "formats/html/refresh.h"
#include "formats/html/srcset.h"

namespace stele::html {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Candidates(std::string_view srcset) {
  std::vector<std::string> urls;
  SrcsetReader reader(srcset);
  while (const auto url = reader.Next()) urls.emplace_back(*url);
  return urls;
}

TEST(Srcset, SeparatesCandidatesNotCommasInUrls) {
  EXPECT_THAT(Candidates("a.png 1x, b.png 2x"), ElementsAre("a.png", "b.png"));
  EXPECT_THAT(Candidates("/w=1,h=2/a.png 100w,b.png"), ElementsAre("/w=1,h=2/a.png", "b.png"));
  EXPECT_THAT(Candidates(" ,,a.png,, b.png,"), ElementsAre("a.png", "b.png"));
  EXPECT_THAT(Candidates("a.png calc(1px, 2px), b.png"), ElementsAre("a.png", "b.png"));
  EXPECT_THAT(Candidates("data:image/gif;base64,AA 1x, b.png"),
              ElementsAre("data:image/gif;base64,AA", "b.png"));
  EXPECT_THAT(Candidates(" , ,"), IsEmpty());
}

TEST(Srcset, AMillionCommasAreNothing) {
  EXPECT_THAT(Candidates(std::string(1'000'000, ',')), IsEmpty());
  EXPECT_EQ(Candidates("a" + std::string(1'000'000, ',') + " b").size(), 2u);
}

TEST(Refresh, ReadsAllForms) {
  EXPECT_EQ(RefreshUrl("5;url=x"), "x");
  EXPECT_EQ(RefreshUrl("5, URL = 'x y'z"), "x y");
  EXPECT_EQ(RefreshUrl(" 0 ; x"), "x");
  EXPECT_EQ(RefreshUrl("5 x"), "x");
  EXPECT_EQ(RefreshUrl("0.5;URL=\"http://a/?b=c;d\""), "http://a/?b=c;d");
  EXPECT_EQ(RefreshUrl("url=x"), "x");
  EXPECT_EQ(RefreshUrl("3;url"), "url");
  EXPECT_EQ(RefreshUrl("5"), std::nullopt);
  EXPECT_EQ(RefreshUrl("5;"), std::nullopt);
  EXPECT_EQ(RefreshUrl("5x"), std::nullopt);
  EXPECT_EQ(RefreshUrl("5;url=''"), std::nullopt);
  EXPECT_EQ(RefreshUrl(""), std::nullopt);
}

TEST(LinkRelation, DecidesTheHop) {
  EXPECT_EQ(HopForRelation("stylesheet"), Hop::kEmbed);
  EXPECT_EQ(HopForRelation("Shortcut ICON"), Hop::kEmbed);
  EXPECT_EQ(HopForRelation("alternate stylesheet"), Hop::kEmbed);
  EXPECT_EQ(HopForRelation("modulepreload"), Hop::kEmbed);
  EXPECT_EQ(HopForRelation("canonical"), Hop::kNavigation);
  EXPECT_EQ(HopForRelation(""), Hop::kNavigation);
  EXPECT_EQ(HopForRelation("dns-prefetch"), std::nullopt);
  EXPECT_EQ(HopForRelation("preconnect pingback"), std::nullopt);
  EXPECT_EQ(HopForRelation("preconnect next"), Hop::kNavigation);
  EXPECT_TRUE(IsNofollowRelation("external UGC"));
  EXPECT_FALSE(IsNofollowRelation("nofollows"));
}

TEST(LinkHeader, ReadsManyLinksWithQuotedParameters) {
  EXPECT_THAT(
      LinesBy(ExtractLinkHeaderLinks,
              "</a.css>; rel=\"preload\"; title=\"x, <y>; z\", <b?c=1,2>; rel=next,"
              "<//cdn.example/d.js>;rel=modulepreload, <e>; rel=preconnect, </f>; anchor=\"/g\""),
      ElementsAre("E http://example.org/a.css", "L http://example.org/dir/b?c=1,2",
                  "E http://cdn.example/d.js"));
  EXPECT_THAT(LinesBy(ExtractLinkHeaderLinks, "<unclosed"), IsEmpty());
  EXPECT_THAT(LinesBy(ExtractLinkHeaderLinks, "<a>; rel=\"x"),
              ElementsAre("L http://example.org/dir/a"));
}

TEST(LinkHeader, RedirectsComeFromLocationAndRefresh) {
  const std::string_view link[] = {"</s.css>; rel=stylesheet", "</n>; rel=next"};
  EXPECT_THAT(LinesOf({.url = kTestUrl,
                       .content = "<base href=/other/>",
                       .content_type = "text/html",
                       .link_headers = link,
                       .refresh = "0; url=r",
                       .location = "caf\xC3\xA9",
                       .content_location = "cl"}),
              ElementsAre("R http://example.org/dir/caf%C3%A9", "L http://example.org/dir/cl",
                          "R http://example.org/dir/r", "E http://example.org/s.css",
                          "L http://example.org/n"));
}

TEST(DocumentKind, BelievesBytesOverLabels) {
  EXPECT_EQ(KindOfDocument("%PDF-1.4", "text/html"), DocumentKind::kPdf);
  EXPECT_EQ(KindOfDocument("#EXTM3U\n", "text/plain"), DocumentKind::kHls);
  EXPECT_EQ(KindOfDocument("\x89PNG\r\n", "text/html"), DocumentKind::kNone);
  EXPECT_EQ(KindOfDocument("<!DOCTYPE html><p>gone", "text/css"), DocumentKind::kHtml);
  EXPECT_EQ(KindOfDocument("<?xml version='1.0'?><!-- x --><rss>", "text/html"),
            DocumentKind::kFeed);
  EXPECT_EQ(KindOfDocument("\xEF\xBB\xBF <urlset>", "application/xml"), DocumentKind::kSitemap);
  EXPECT_EQ(KindOfDocument("<?xml version='1.0'?><MPD>", "video/mp4"), DocumentKind::kNone);
  EXPECT_EQ(KindOfDocument("<?xml version='1.0'?><MPD>", ""), DocumentKind::kDash);
  EXPECT_EQ(KindOfDocument("<svg/>", "image/svg+xml"), DocumentKind::kHtml);
}

TEST(DocumentKind, BelievesLabelsWhereBytesSayNothing) {
  EXPECT_EQ(KindOfDocument("hello", "text/html"), DocumentKind::kHtml);
  EXPECT_EQ(KindOfDocument("a{}", "text/css"), DocumentKind::kCss);
  EXPECT_EQ(KindOfDocument("{}", "application/json"), DocumentKind::kJson);
  EXPECT_EQ(KindOfDocument("{}", "application/ld+json"), DocumentKind::kJsonLd);
  EXPECT_EQ(KindOfDocument("hello", "text/plain"), DocumentKind::kNone);
  EXPECT_EQ(KindOfDocument("", "image/png"), DocumentKind::kNone);
  EXPECT_EQ(KindOfDocument("<html>", "application/octet-stream"), DocumentKind::kHtml);
}

}  // namespace
}  // namespace stele::html
