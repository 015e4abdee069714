#include "formats/crawl_log/duplicate.h"

#include <gtest/gtest.h>

namespace stele::crawl_log {
namespace {

Line WithAnnotations(std::string annotations, std::string extra = {}) {
  Line line;
  line.uri = "http://a/";
  line.annotations = std::move(annotations);
  line.extra = std::move(extra);
  return line;
}

TEST(CrawlLogDuplicate, D1_TheOriginMayBeInTheExtraInformation) {
  const std::optional<Duplicate> found = FindDuplicate(WithAnnotations(
      "duplicate:digest",
      R"({"RevisitProfile":"x/identical-payload-digest","RevisitOrigin":"may, \"all\" of it"})"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->origin, "may, \"all\" of it");
}

TEST(CrawlLogDuplicate, D1_EveryDialectIsUnderstood) {
  struct Case {
    const char* annotations;
    DuplicateKind kind;
    bool any_url;
  };
  const Case cases[] = {
      {"duplicate", DuplicateKind::kDigest, false},
      {"3t,duplicate:digest", DuplicateKind::kDigest, true},
      {"duplicate:uriAgnosticDigest,dol:1", DuplicateKind::kDigest, true},
      {"duplicate:server-not-modified", DuplicateKind::kNotModified, false},
      {"warcRevisit:digest", DuplicateKind::kDigest, false},
      {"warcRevisit:uriAgnosticDigest", DuplicateKind::kDigest, true},
      {"warcRevisit:notModified", DuplicateKind::kNotModified, false},
      {"unwritten:identicalDigest", DuplicateKind::kDigest, false},
      {"Revisit:IdenticalPayloadDigest", DuplicateKind::kDigest, true},
      {"header-duplicate", DuplicateKind::kHeader, false},
  };
  for (const Case& expected : cases) {
    const std::optional<Duplicate> found = FindDuplicate(WithAnnotations(expected.annotations));
    ASSERT_TRUE(found) << expected.annotations;
    EXPECT_EQ(found->kind, expected.kind) << expected.annotations;
    EXPECT_EQ(found->any_url, expected.any_url) << expected.annotations;
    EXPECT_EQ(found->origin, "");
    EXPECT_EQ(found->original_uri, "");
  }
}

TEST(CrawlLogDuplicate, D1_OtherAnnotationsAreNoDuplicates) {
  for (const char* annotations : {"", "3t", "dol:7,timeTrunc", "unwritten:status", "duplicated",
                                  "xduplicate:digest", "Runtime exceeded 9 ms"}) {
    EXPECT_FALSE(IsDuplicate(WithAnnotations(annotations))) << annotations;
  }
}

TEST(CrawlLogDuplicate, D1_OriginMayBeTextWithCommas) {
  const std::optional<Duplicate> found = FindDuplicate(
      WithAnnotations(R"(2t,duplicate:"1-1-2007.arc.gz,1234",equivalentURL:"http://www.a/")"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->origin, "1-1-2007.arc.gz,1234");
  EXPECT_EQ(found->original_uri, "http://www.a/");
  EXPECT_TRUE(found->any_url);
  EXPECT_EQ(FindDuplicate(WithAnnotations("duplicate:spring"))->origin, "spring");
}

TEST(CrawlLogDuplicate, D1_ExtraNamesTheOriginal) {
  const std::optional<Duplicate> found = FindDuplicate(WithAnnotations(
      "Revisit:IdenticalPayloadDigest",
      R"({"contentSize":9,"RevisitProfile":"http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",)"
      R"("RevisitRefersToURI":"http://b/","RevisitRefersToDate":"2014-01-26T20:06:24Z"})"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, DuplicateKind::kDigest);
  EXPECT_EQ(found->original_uri, "http://b/");
  EXPECT_EQ(found->OriginalDate(), ParseIso("2014-01-26T20:06:24Z"));
}

TEST(CrawlLogDuplicate, D1_ProfileAloneIsADuplicate) {
  const std::optional<Duplicate> found = FindDuplicate(WithAnnotations(
      "", R"({"RevisitProfile":"http://netpreserve.org/warc/1.1/revisit/server-not-modified"})"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, DuplicateKind::kNotModified);
  EXPECT_FALSE(FindDuplicate(WithAnnotations("", R"({"RevisitRefersToURI":"http://b/"})")));
  EXPECT_FALSE(FindDuplicate(WithAnnotations("", R"({"RevisitProfile":)")));
}

TEST(CrawlLogDuplicate, D1_ExtraGivesThePlaceOfTheRecord) {
  const std::optional<Extra> extra = ParseExtra(
      R"({"warcFileOffset":942,"contentSize":2495,"warcFilename":"X.warc.gz","more":{"a":[1]}})");
  ASSERT_TRUE(extra);
  EXPECT_EQ(extra->warc_offset, 942u);
  EXPECT_EQ(extra->content_size, 2495u);
  EXPECT_EQ(extra->warc_filename, "X.warc.gz");
  const std::optional<Extra> ours =
      ParseExtra(R"({"etag":"\"v1\"","lastModified":"Sun, 26 Jan 2014 20:06:23 GMT"})");
  ASSERT_TRUE(ours);
  EXPECT_EQ(ours->etag, "\"v1\"");
  EXPECT_EQ(ours->last_modified, "Sun, 26 Jan 2014 20:06:23 GMT");
  EXPECT_EQ(ParseExtra(""), std::nullopt);
  EXPECT_EQ(ParseExtra("[1]"), std::nullopt);
  EXPECT_EQ(ParseExtra(R"({"contentSize":-1})")->content_size, std::nullopt);
  EXPECT_EQ(ParseExtra(R"({"contentSize":"9"})")->content_size, std::nullopt);
}

}  // namespace
}  // namespace stele::crawl_log
