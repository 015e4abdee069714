#include "access/similar_url.h"

#include "access/test_access.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::PutFile;
using testing::Serving;
using testing::WarcText;

bool AreSimilar(std::string_view one, std::string_view other) {
  return LooseKey::Of(KeyOfUrl(one)) == LooseKey::Of(KeyOfUrl(other));
}

TEST(SimilarUrls, W15_CacheBustersMeanNothing) {
  for (const auto& [one, other] : {
           std::pair("http://a.org/x?_=1", "http://a.org/x?_=2"),
           std::pair("http://a.org/x?_=1", "http://a.org/x"),
           std::pair("http://a.org/x?id=5&_=1385573129123", "http://a.org/x?id=5&_=1400000000000"),
           std::pair("http://a.org/x?1385573129", "http://a.org/x?1400000000"),
           std::pair("http://a.org/x?t=1385573129", "http://a.org/x?t=1400000000"),
           std::pair("http://a.org/x?ord=0.8340183401", "http://a.org/x?ord=0.1231231231"),
           std::pair("http://a.org/x?callback=jQuery17_99&q=1", "http://a.org/x?callback=cb3&q=1"),
           std::pair("http://a.org/x?jsonCallback=f1", "http://a.org/x?jsonCallback=f2"),
           std::pair("http://a.org/x?utm_source=mail&utm_medium=b", "http://a.org/x"),
           std::pair("http://a.org/x?p=1&fbclid=abc", "http://a.org/x?p=1"),
           std::pair("http://a.org/s.js?v=1.2", "http://a.org/s.js?v=1.3"),
           std::pair("http://a.org/s.css?abc", "http://a.org/s.css"),
           std::pair("http://a.org/x?__wb_method=POST&q=1&_=9",
                     "http://a.org/x?__wb_method=POST&q=1"),
       }) {
    EXPECT_TRUE(AreSimilar(one, other)) << one << " " << other;
  }
}

TEST(SimilarUrls, W15_OtherArgumentsMeanSomething) {
  for (const auto& [one, other] : {
           std::pair("http://a.org/x?id=5", "http://a.org/x?id=6"),
           std::pair("http://a.org/x?id=5&_=1", "http://a.org/x?id=6&_=1"),
           std::pair("http://a.org/x?t=news", "http://a.org/x?t=sport"),
           std::pair("http://a.org/x?t=2", "http://a.org/x?t=3"),
           std::pair("http://a.org/x?12", "http://a.org/x?13"),
           std::pair("http://a.org/x?callback=show", "http://a.org/x?callback=hide"),
           std::pair("http://a.org/x?_=1", "http://a.org/y?_=1"),
           std::pair("http://a.org/x?_=1", "http://b.org/x?_=1"),
           std::pair("http://a.org/s.js?__wb_method=POST&a=1", "http://a.org/s.js"),
       }) {
    EXPECT_FALSE(AreSimilar(one, other)) << one << " " << other;
  }
}

TEST(SimilarUrls, W15_TheSearchBeginsAtTheFirstArgumentThatMeansNothing) {
  EXPECT_EQ(LooseKey::Of("org,a)/x?a=1&cb=7&id=5").prefix, "org,a)/x?a=1&cb=");
  EXPECT_EQ(LooseKey::Of("org,a)/x?1385573129").prefix, "org,a)/x?");
  EXPECT_EQ(LooseKey::Of("org,a)/x?a=1").prefix, "org,a)/x?a=1&");
  EXPECT_EQ(LooseKey::Of("org,a)/x").prefix, "org,a)/x?");
}

class SimilarReplay : public Serving {};

TEST_F(SimilarReplay, W15_ASimilarCaptureDoesOnlyWhereThereIsNone) {
  Bring(WarcText()
            .Response("http://a.org/d?id=1&_=100", "2014-01-01T00:00:00Z", "one")
            .Response("http://a.org/d?id=2&_=100", "2014-01-01T00:00:00Z", "two")
            .Response("http://a.org/d?id=1&_=200", "2015-01-01T00:00:00Z", "later")
            .Response("http://a.org/s.js?v=1&lang=de", "2014-01-01T00:00:00Z", "de", "text/js")
            .Response("http://a.org/s.js?v=1&lang=en", "2014-01-01T00:00:00Z", "en", "text/js")
            .Response("http://a.org/s.js?v=3&lang=en", "2014-01-01T00:00:00Z", "no", "text/js", 404)
            .Response("http://a.org/page?utm_source=x", "2014-01-01T00:00:00Z",
                      "<script src='/s.js?v=2'></script><img src='/never.png'>"));
  Serve();
  const auto body = [&](const std::string& url) {
    return GetReplay("/web/20140101000000rp_/http://a.org/" + url).body;
  };
  EXPECT_EQ(body("d?id=1&_=100"), "one");
  EXPECT_EQ(body("d?id=1&_=999"), "one");
  EXPECT_EQ(body("d?id=2&_=999"), "two");
  EXPECT_EQ(GetReplay("/web/2016rp_/http://a.org/d?id=1&_=999").body, "later");
  EXPECT_EQ(body("s.js?v=2&lang=de"), "de");
  EXPECT_EQ(body("s.js?v=2&lang=en"), "en");
  EXPECT_EQ(GetReplay("/web/2014rp_/http://a.org/d?id=3&_=100").status, 404);
  EXPECT_EQ(GetReplay("/web/2014rp_/http://a.org/d?_=100").status, 404);
  // A page says where it really is.
  const Answer page =
      GetReplay("/web/20140101000000rp_/http://a.org/page", "Accept: text/html\r\n");
  EXPECT_EQ(page.Header("X-Redirect-Status"), "307");
  EXPECT_EQ(page.Header("X-Orig-Location"), "http://a.org/page?utm_source=x");
  EXPECT_EQ(Get("/web/20140101000000mp_/http://a.org/page?utm_source=y").Header("Location"),
            "/web/20140101000000mp_/http://a.org/page?utm_source=x");
  // What is asked of the index itself is answered exactly.
  EXPECT_EQ(Get("/cdx?url=a.org/page").body, "");
  EXPECT_EQ(Get("/timemap/link/http://a.org/page").status, 404);
  // What a page needs is not missing where something similar is there.
  const Answer coherence = Get("/api/v1/coherence?url=http://a.org/page%3Futm_source=x");
  EXPECT_NE(coherence.body.find("\"missing\": [\"http://a.org/never.png\"]"), std::string::npos)
      << coherence.body;
}

TEST_F(SimilarReplay, W15_WhatIsHiddenIsNotFoundByASimilarAddress) {
  Bring(WarcText()
            .Response("http://a.org/d?_=1", "2014-01-01T00:00:00Z", "hidden")
            .Response("http://b.org/d?_=1", "2014-01-01T00:00:00Z", "shown"));
  PutFile(fs_, "a/access.aclj", "org,a)/ - {\"access\": \"exclude\"}\n");
  Serve();
  EXPECT_EQ(GetReplay("/web/2014rp_/http://a.org/d?_=2").status, 404);
  EXPECT_EQ(GetReplay("/web/2014rp_/http://b.org/d?_=2").body, "shown");
}

TEST_F(SimilarReplay, W15_ManyNeighboursAreNotAllLookedAt) {
  WarcText warc(record::Compression::kNone);
  for (int i = 0; i < 3 * kSimilarKeysMax; ++i) {
    warc.Response(fmt::format("http://a.org/d?id={:06}&x=1", i), "2014-01-01T00:00:00Z", "x");
  }
  warc.Response("http://a.org/d?id=001500&x=1&zz_ts=1385573129", "2014-01-01T00:00:00Z", "found");
  // Here nothing stands before it, and what is looked for is among so many.
  for (int i = 0; i < 3 * kSimilarKeysMax; ++i) {
    warc.Response(fmt::format("http://b.org/d?_={:06}&id=1", i), "2014-01-01T00:00:00Z", "x");
  }
  warc.Response("http://b.org/d?_=001500&id=7", "2014-01-01T00:00:00Z", "among");
  Bring(warc);
  Serve();
  // What stands before the first argument that means nothing leads there at once.
  EXPECT_EQ(GetReplay("/web/2014rp_/http://a.org/d?id=001500&x=1&zz_ts=1400000000").body, "found");
  // The numbers that are nearest to the one that is asked for are looked at, on both sides.
  const auto ask = [&](int number) {
    return GetReplay(fmt::format("/web/2014rp_/http://b.org/d?_={:06}&id=7", number));
  };
  EXPECT_EQ(ask(1500 - kSimilarKeysMax + 1).body, "among");
  EXPECT_EQ(ask(1500 + kSimilarKeysMax - 1).body, "among");
  EXPECT_EQ(ask(1500 - kSimilarKeysMax - 1).status, 404);
  EXPECT_EQ(ask(1500 + kSimilarKeysMax + 1).status, 404);
}

}  // namespace
}  // namespace stele::access
