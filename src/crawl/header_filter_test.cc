#include "crawl/header_filter.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

constexpr const char* kUrl = "http://a.is/x";
constexpr Timestamp kSeen{1'700'000'000'000};  // in 2023
constexpr const char* kOld = "Thu, 01 Feb 2001 10:00:00 GMT";

// Knows one document.
class OneDocument final : public dedup::OriginalSource {
 public:
  OneDocument() {
    document.url = kUrl;
    document.time = document.seen = kSeen;
    document.etag = "\"1\"";
    document.last_modified = kOld;
    document.capture = catalog::CaptureId{202311, 1};
    document.type = "image/png";
    document.status = 200;
    document.length = 100;
    document.digest.sha1.emplace();
  }
  bool MayHave(const dedup::PayloadDigest&) const override { return true; }
  Documents ByUrl(std::string_view url) override {
    if (url != document.url) return std::vector<dedup::KnownDocument>();
    return std::vector{document};
  }
  Documents NewestByUrl(std::string_view url) override {
    Documents documents = ByUrl(url);
    if (documents && documents->size() > 1) documents->resize(1);
    return documents;
  }
  Documents NewestWith(std::string_view url, const dedup::PayloadDigest&, bool) override {
    return ByUrl(url);
  }
  Documents ByEquivalentUrl(std::string_view, const dedup::PayloadDigest&) override {
    return std::vector{document};
  }
  Documents ByDigest(const dedup::PayloadDigest&) override { return std::vector{document}; }
  Status TakeHeaders(dedup::KnownDocument&) override { return {}; }
  Status Complete(dedup::KnownDocument&) override { return {}; }

  dedup::KnownDocument document;
};

class Filtering : public ::testing::Test {
 protected:
  Filtering() { settings_.headers = dedup::HeaderScheme::kTimestampOrEtag; }
  net::FetchRequest Arranged(const std::string& url = kUrl) {
    visit_ = std::make_shared<Visit>(*url::Parse(url));
    visit_->candidate.url = url;
    dedup::DuplicateFinder finder({}, &known_, nullptr);
    net::FetchRequest request;
    EXPECT_TRUE(HeaderFilter(settings_, finder).Arrange(visit_, request));
    return request;
  }
  // "If-None-Match If-Modified-Since"
  std::string Asked(const std::string& url = kUrl) {
    std::string names;
    for (const net::HeaderField& field : Arranged(url).fields) {
      names += (names.empty() ? "" : " ") + field.name;
    }
    EXPECT_EQ(visit_->asked_for_changes, !names.empty());
    return names;
  }
  bool Aborts(const std::string& head) {
    const net::FetchRequest request = Arranged();
    return request.on_head != nullptr &&
           request.on_head(*http::ParseResponseHead("HTTP/1.1 " + head + "\r\n\r\n")) ==
               net::HeadVerdict::kAbort;
  }

  OneDocument known_;
  DuplicateSettings settings_;
  VisitPointer visit_;
};

TEST_F(Filtering, D4_OnlyTheExactUrlWithAWholeAnswerHereIsAskedAbout) {
  EXPECT_EQ(Asked(), "If-None-Match If-Modified-Since");
  EXPECT_EQ(Asked("http://www.a.is/x"), "");
  known_.document.status = 404;
  EXPECT_EQ(Asked(), "");
  known_.document.status = 200;
  known_.document.length = 0;
  EXPECT_EQ(Asked(), "");
  known_.document.length = 100;
  known_.document.capture.reset();  // it is kept elsewhere
  EXPECT_EQ(Asked(), "");
}

TEST_F(Filtering, D4_EachSchemeAsksByWhatItTrusts) {
  using dedup::HeaderScheme;
  const auto asked = [&](HeaderScheme scheme) {
    settings_.headers = scheme;
    return Asked();
  };
  EXPECT_EQ(asked(HeaderScheme::kTimestamp), "If-Modified-Since");
  EXPECT_EQ(asked(HeaderScheme::kEtag), "If-None-Match");
  EXPECT_EQ(asked(HeaderScheme::kTimestampAndEtag), "If-None-Match If-Modified-Since");
  known_.document.etag.clear();
  EXPECT_EQ(asked(HeaderScheme::kEtag), "");
  EXPECT_EQ(asked(HeaderScheme::kTimestampAndEtag), "");
  EXPECT_EQ(asked(HeaderScheme::kTimestampOrEtag), "If-Modified-Since");
}

TEST_F(Filtering, D4_TextIsFetchedUnlessItsLinksAreTakenFromTheCopy) {
  for (const char* type : {"text/html", "application/xhtml+xml", "image/svg+xml", "text/css"}) {
    known_.document.type = type;
    settings_.headers_text = false;
    EXPECT_EQ(Asked(), "") << type;
    settings_.headers_text = true;
    EXPECT_NE(Asked(), "") << type;
  }
  EXPECT_FALSE(HeaderFilter::IsText("video/mp4"));
  EXPECT_TRUE(HeaderFilter::IsText("Application/JSON"));
}

TEST_F(Filtering, D4_AHeadEndsTheFetchOnlyWhenNothingContradicts) {
  settings_.abort = true;
  const std::string same = std::string("200 OK\r\nLast-Modified: ") + kOld;
  EXPECT_TRUE(Aborts(same));
  EXPECT_TRUE(Aborts("200 OK\r\nETag: W/\"1\""));
  EXPECT_TRUE(Aborts(same + "\r\nContent-Length: 100"));
  EXPECT_FALSE(Aborts(same + "\r\nContent-Length: 101"));
  EXPECT_FALSE(Aborts(same + "\r\nContent-Encoding: gzip"));
  EXPECT_FALSE(Aborts(same + "\r\nContent-Type: text/html; charset=utf-8"));
  EXPECT_FALSE(Aborts("200 OK\r\nLast-Modified: Fri, 01 Feb 2030 10:00:00 GMT"));
  EXPECT_FALSE(Aborts("200 OK"));
  EXPECT_FALSE(Aborts(std::string("206 Partial Content\r\nLast-Modified: ") + kOld));
  EXPECT_TRUE(Arranged().fields.empty());
}

}  // namespace
}  // namespace stele::crawl
