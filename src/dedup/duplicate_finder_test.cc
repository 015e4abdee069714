#include "dedup/duplicate_finder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "archive/test_crawl.h"

namespace stele::dedup {
namespace {

using archive::testing::CrawlTime;

// Documents in memory.
class Shelf final : public OriginalSource {
 public:
  void Put(const std::string& url, const std::string& body, const std::string& etag = "",
           int moment = 0) {
    const auto facts =
        archive::ExamineResponse(archive::WireMessage::InMemory("HTTP/1.1 200 OK\r\n\r\n" + body));
    KnownDocument document;
    document.url = url;
    document.time = document.seen = CrawlTime(moment);
    document.digest = {.sha1 = facts->sha1, .sha256 = facts->sha256};
    document.etag = etag;
    documents_.insert(documents_.begin(), document);
  }

  bool MayHave(const PayloadDigest& digest) const override {
    return std::any_of(documents_.begin(), documents_.end(),
                       [&](const auto& one) { return one.digest.SameAs(digest); });
  }
  Documents ByUrl(std::string_view url) override {
    return Where([&](const KnownDocument& one) { return one.url == url; });
  }
  Documents NewestByUrl(std::string_view url) override {
    Documents documents = ByUrl(url);
    if (documents && documents->size() > 1) documents->resize(1);
    return documents;
  }
  Documents NewestWith(std::string_view url, const PayloadDigest& digest,
                       bool or_equivalent) override {
    Documents documents = ByUrl(url);
    std::erase_if(*documents, [&](const auto& one) { return !one.digest.SameAs(digest); });
    const bool is_exact = !documents->empty();
    if (!is_exact && or_equivalent) documents = ByEquivalentUrl(url, digest);
    if (documents->size() > 1) documents->resize(1);
    if (!documents->empty()) documents->front().is_equivalent = !is_exact;
    return documents;
  }
  // A URL is equivalent to all that begin like it up to '?'.
  Documents ByEquivalentUrl(std::string_view url, const PayloadDigest& digest) override {
    const std::string_view begin = url.substr(0, url.find('?'));
    return Where([&](const KnownDocument& one) {
      return one.url != url && one.url.starts_with(begin) && one.digest.SameAs(digest);
    });
  }
  Documents ByDigest(const PayloadDigest& digest) override {
    return Where([&](const KnownDocument& one) { return one.digest.SameAs(digest); });
  }
  Status TakeHeaders(KnownDocument&) override { return {}; }
  Status Complete(KnownDocument& document) override {
    if (failure) return Error{*failure, "gone, or damaged"};
    document.record_id = "<urn:uuid:x>";
    if (has_another_payload) document.digest = {.sha1 = catalog::Sha1Bytes(), .sha256 = {}};
    return {};
  }

  std::optional<ErrorCode> failure;  // of all that is asked for
  bool has_another_payload = false;  // than what repeats it claims

 private:
  template <typename Is>
  std::vector<KnownDocument> Where(const Is& is) {
    std::vector<KnownDocument> found;
    for (const KnownDocument& one : documents_) {
      if (is(one)) found.push_back(one);
    }
    return found;
  }
  std::vector<KnownDocument> documents_;
};

archive::ResponseFacts FactsOf(const std::string& body, const std::string& headers = "",
                               const std::string& type = "image/png") {
  return *archive::ExamineResponse(archive::WireMessage::InMemory(
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\n{}\r\n{}", type, headers, body)));
}

class Finding : public ::testing::Test {
 protected:
  Verdict Judge(DuplicateFinder& finder, const std::string& url, const std::string& body) {
    const archive::ResponseFacts facts = FactsOf(body);
    const auto verdict = finder.Judge({.url = url, .facts = facts});
    EXPECT_TRUE(verdict);
    return *verdict;
  }
  Shelf shelf_;
};

TEST_F(Finding, D2_ByUrl) {
  shelf_.Put("http://a.is/1", "one");
  DuplicateFinder finder({.try_equivalent = false}, &shelf_, nullptr);
  const Verdict same = Judge(finder, "http://a.is/1", "one");
  EXPECT_EQ(same.hit, Hit::kExact);
  ASSERT_TRUE(same.original);
  EXPECT_EQ(same.original->url, "http://a.is/1");
  EXPECT_EQ(same.original->record_id, "<urn:uuid:x>");
  EXPECT_EQ(Judge(finder, "http://a.is/1", "other").hit, Hit::kNew);
  EXPECT_EQ(Judge(finder, "http://a.is/2", "one").hit, Hit::kNew);
  EXPECT_EQ(Judge(finder, "http://a.is/1?x", "one").hit, Hit::kNew);
  const DedupCounts total = finder.Report().total;
  EXPECT_EQ(total, (DedupCounts{.handled = 4,
                                .handled_bytes = 14,
                                .duplicates = 1,
                                .duplicate_bytes = 3,
                                .fresh = 3,
                                .exact = 1,
                                .equivalent = 0,
                                .mirrors = 0,
                                .timestamp = {},
                                .etag = {}}));
}

TEST_F(Finding, D2_ByEquivalentUrlWhereTheUrlIsNotKnown) {
  shelf_.Put("http://a.is/1?session=1", "one");
  DuplicateFinder finder({}, &shelf_, nullptr);
  const Verdict verdict = Judge(finder, "http://a.is/1?session=2", "one");
  EXPECT_EQ(verdict.hit, Hit::kEquivalent);
  EXPECT_EQ(verdict.original->url, "http://a.is/1?session=1");
  EXPECT_EQ(finder.Report().total.equivalent, 1u);
}

TEST_F(Finding, D2_ByDigestTheUrlMustBeTheSameAndElseItIsAMirror) {
  shelf_.Put("http://a.is/1", "one");
  DuplicateFinder finder({.by = DuplicateRules::By::kDigest}, &shelf_, nullptr);
  EXPECT_EQ(Judge(finder, "http://a.is/1", "one").hit, Hit::kExact);
  const Verdict mirror = Judge(finder, "http://other.is/", "one");
  EXPECT_EQ(mirror.hit, Hit::kMirror);
  EXPECT_FALSE(mirror.original);
  EXPECT_EQ(finder.Report().total.mirrors, 1u);
  EXPECT_EQ(finder.Report().total.duplicates, 1u);
  EXPECT_EQ(finder.Report().total.fresh, 0u);  // nothing is known of a new one
}

TEST_F(Finding, D2_ByDigestAtAnyUrl) {
  shelf_.Put("http://a.is/1", "one");
  DuplicateFinder finder({.by = DuplicateRules::By::kDigestAnyUrl}, &shelf_, nullptr);
  const Verdict mirror = Judge(finder, "http://other.is/", "one");
  EXPECT_EQ(mirror.hit, Hit::kMirror);
  ASSERT_TRUE(mirror.original);
  EXPECT_EQ(mirror.original->url, "http://a.is/1");
  EXPECT_EQ(finder.Report().total.duplicates, 1u);
}

TEST_F(Finding, D2_EmptyTruncatedSmallAndFilteredDocumentsAreNotHandled) {
  shelf_.Put("http://a.is/1", "one");
  shelf_.Put("http://a.is/empty", "");
  DuplicateFinder finder(
      {.media = *MediaFilter::Create("^text/.*", MediaFilter::Mode::kBlacklist), .size_min = 0},
      &shelf_, nullptr);
  EXPECT_EQ(Judge(finder, "http://a.is/empty", "").hit, Hit::kNotHandled);
  const archive::ResponseFacts facts = FactsOf("one");
  EXPECT_EQ(finder.Judge({.url = "http://a.is/1", .facts = facts, .truncated = true})->hit,
            Hit::kNotHandled);
  const archive::ResponseFacts text = FactsOf("one", "", "text/html");
  EXPECT_EQ(finder.Judge({.url = "http://a.is/1", .facts = text})->hit, Hit::kNotHandled);
  EXPECT_EQ(finder.Report().total, DedupCounts());
  DuplicateFinder large({.size_min = 4}, &shelf_, nullptr);
  EXPECT_EQ(Judge(large, "http://a.is/1", "one").hit, Hit::kNotHandled);
  DuplicateFinder large_enough({.size_min = 3}, &shelf_, nullptr);
  EXPECT_EQ(Judge(large_enough, "http://a.is/1", "one").hit, Hit::kExact);
}

TEST_F(Finding, D5_ARevisitIsHandledAlsoWhereItsSizeIsNotTold) {
  shelf_.Put("http://a.is/1", "one");
  DuplicateFinder finder({.size_min = 2}, &shelf_, nullptr);
  const archive::ResponseFacts facts = FactsOf("one");
  CrawledDocument revisit;
  revisit.url = "http://a.is/1";
  revisit.known.digest.sha1 = facts.sha1;
  revisit.known.digest.sha256 = facts.sha256;
  revisit.is_duplicate = true;
  EXPECT_EQ(finder.Judge(revisit)->hit, Hit::kExact);
  revisit.length = 1;
  EXPECT_EQ(finder.Judge(revisit)->hit, Hit::kNotHandled);
  EXPECT_EQ(finder.Report().total.duplicates, 1u);
}

TEST_F(Finding, D2_OffMeansThatNothingIsHandledAndUrlsAreKnownNevertheless) {
  shelf_.Put("http://a.is/1", "one");
  DuplicateFinder finder({.by = DuplicateRules::By::kNothing}, &shelf_, nullptr);
  EXPECT_EQ(Judge(finder, "http://a.is/1", "one").hit, Hit::kNotHandled);
  EXPECT_EQ(finder.Report().total, DedupCounts());
  EXPECT_TRUE(*finder.Known("http://a.is/1"));
}

TEST_F(Finding, D5_AVerdictSaysWhatACountIsMadeOf) {
  shelf_.Put("http://a.is/1", "one", "\"v1\"");
  DuplicateFinder finder({.analysis = HeaderAnalysis::kTimestampAndEtag}, &shelf_, nullptr);
  const archive::ResponseFacts facts =
      FactsOf("two", "ETag: \"v1\"\r\nLast-Modified: Fri, 01 Feb 2030 10:00:00 GMT\r\n");
  const auto verdict = finder.Judge({.url = "http://a.is/1", .facts = facts});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->timestamp_category, "changeCorrect");
  EXPECT_EQ(verdict->etag_category, "noChangeFalse");
  DedupCounts again;
  again.Count(*HitByName(NameOf(verdict->hit)), false, facts.payload_length);
  EXPECT_TRUE(again.timestamp.CountNamed(verdict->timestamp_category));
  EXPECT_TRUE(again.etag.CountNamed(verdict->etag_category));
  EXPECT_FALSE(again.etag.CountNamed(""));
  EXPECT_EQ(again, finder.Report().total);
}

TEST_F(Finding, D6_NoOriginalNoRevisit) {
  shelf_.Put("http://a.is/1", "one");
  for (const ErrorCode failure : {ErrorCode::kNotFound, ErrorCode::kCorrupt}) {
    shelf_.failure = failure;
    DuplicateFinder finder({}, &shelf_, nullptr);
    const Verdict verdict = Judge(finder, "http://a.is/1", "one");
    EXPECT_EQ(verdict.hit, Hit::kNew);
    EXPECT_FALSE(verdict.original);
    const auto known = finder.Known("http://a.is/1");
    ASSERT_TRUE(known);
    EXPECT_FALSE(*known);
  }
}

TEST_F(Finding, D6_AnOriginalHasThePayloadThatWasClaimed) {
  shelf_.Put("http://a.is/1", "one");
  shelf_.has_another_payload = true;
  DuplicateFinder finder({.by = DuplicateRules::By::kDigestAnyUrl}, &shelf_, nullptr);
  const Verdict verdict = Judge(finder, "http://a.is/1", "one");
  EXPECT_EQ(verdict.hit, Hit::kNew);
  EXPECT_FALSE(verdict.original);
}

TEST_F(Finding, D2_AForeignIndexIsAskedWhereNothingIsHere) {
  Shelf foreign;
  foreign.Put("http://a.is/2", "two");
  shelf_.Put("http://a.is/1", "one");
  DuplicateFinder finder({}, &shelf_, &foreign);
  EXPECT_EQ(Judge(finder, "http://a.is/1", "one").hit, Hit::kExact);
  EXPECT_EQ(Judge(finder, "http://a.is/2", "two").hit, Hit::kExact);
  EXPECT_EQ(Judge(finder, "http://a.is/3", "three").hit, Hit::kNew);
}

TEST_F(Finding, D3_HeadersAreAnalysedWhereTheExactUrlIsKnownHostByHost) {
  shelf_.Put("http://a.is/1", "one", "\"v1\"");
  shelf_.Put("http://b.is/1", "one", "\"v1\"");
  DuplicateFinder finder({.analysis = HeaderAnalysis::kTimestampAndEtag, .per_host = true}, &shelf_,
                         nullptr);
  const std::string old = "Last-Modified: Sun, 26 Jan 2014 20:06:23 GMT\r\nETag: \"v1\"\r\n";
  const std::string young = "Last-Modified: Mon, 25 Jan 2027 20:06:23 GMT\r\nETag: \"v2\"\r\n";
  const auto judge = [&](const char* url, const char* body, const std::string& headers) {
    const archive::ResponseFacts facts = FactsOf(body, headers);
    ASSERT_TRUE(finder.Judge({.url = url, .facts = facts}));
  };
  judge("http://a.is/1", "one", old);    // unchanged, rightly
  judge("http://a.is/1", "two", old);    // unchanged, falsely
  judge("http://a.is/1", "two", young);  // changed, rightly
  judge("http://b.is/1", "one", young);  // changed, falsely
  judge("http://b.is/1", "one", "");     // says nothing
  judge("http://b.is/2", "one", old);    // of an unknown URL
  const DedupReport report = finder.Report();
  const PredictionCounts expected{.change_correct = 1,
                                  .change_false = 1,
                                  .no_change_correct = 1,
                                  .no_change_false = 1,
                                  .missing = 1};
  EXPECT_EQ(report.total.timestamp, expected);
  EXPECT_EQ(report.total.etag, expected);
  ASSERT_EQ(report.hosts.size(), 2u);
  EXPECT_EQ(report.hosts.at("a.is").timestamp.total(), 3u);
  EXPECT_EQ(report.hosts.at("b.is").timestamp, (PredictionCounts{.change_correct = 0,
                                                                 .change_false = 1,
                                                                 .no_change_correct = 0,
                                                                 .no_change_false = 0,
                                                                 .missing = 1}));
  EXPECT_EQ(report.hosts.at("b.is").handled, 3u);
}

TEST_F(Finding, D3_TheNewestCaptureIsJudgedBy) {
  for (const bool newest_is_here : {true, false}) {
    Shelf older;
    Shelf newer;
    older.Put("http://a.is/1", "one", "\"v1\"", 1);
    newer.Put("http://a.is/1", "two", "\"v2\"", 2);
    DuplicateFinder finder({.analysis = HeaderAnalysis::kTimestampAndEtag},
                           newest_is_here ? &newer : &older, newest_is_here ? &older : &newer);
    const archive::ResponseFacts facts = FactsOf("two", "ETag: \"v2\"\r\n");
    ASSERT_TRUE(finder.Judge({.url = "http://a.is/1", .facts = facts}));
    EXPECT_EQ(finder.Report().total.etag.no_change_correct, 1u) << newest_is_here;
    EXPECT_EQ((*finder.Known("http://a.is/1"))->etag, "\"v2\"");
  }
}

TEST_F(Finding, D5_DocumentsOfAnEarlierCrawlAreJudgedTheSame) {
  shelf_.Put("http://a.is/1", "one");
  DuplicateFinder finder({.analysis = HeaderAnalysis::kTimestamp}, &shelf_, nullptr);
  const archive::ResponseFacts facts = FactsOf("one");
  CrawledDocument document;
  document.url = "http://a.is/1";
  document.type = "image/png";
  document.length = 3;
  document.known.digest.sha1 = facts.sha1;  // as a log has it
  document.known.last_modified = "Sun, 26 Jan 2014 20:06:23 GMT";
  const auto verdict = finder.Judge(document);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->hit, Hit::kExact);
  EXPECT_EQ(finder.Report().total.duplicate_bytes, 3u);
  EXPECT_EQ(finder.Report().total.timestamp.no_change_correct, 1u);
}

TEST_F(Finding, D4_WhatIsKnownAboutAUrlComesWithItsOriginal) {
  shelf_.Put("http://a.is/1", "one", "\"v1\"");
  shelf_.Put("http://a.is/1", "two", "\"v2\"");
  DuplicateFinder finder({}, &shelf_, nullptr);
  const auto known = finder.Known("http://a.is/1");
  ASSERT_TRUE(known && *known);
  EXPECT_EQ((*known)->etag, "\"v2\"");
  EXPECT_EQ((*known)->record_id, "<urn:uuid:x>");
  EXPECT_FALSE(*finder.Known("http://a.is/1?x"));
}

}  // namespace
}  // namespace stele::dedup
