#include "archive/revisit_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/test_revisits.h"

namespace stele::archive {
namespace {

using testing::Claim;
using ::testing::HasSubstr;
using testing::kIdentical;
using testing::kNotModified;
using ::testing::Not;
using testing::Redirect;
using testing::RefersTo;
using testing::Response;
using testing::Revisit;
using testing::Sha1;

constexpr const char* kMoment = "2004-05-01T10:00:00Z";

// A site that leads to another spelling of its address, and shows the page there within a second:
// all have one key.
struct Twins {
  const char* redirect;
  const char* page;
};
class SameSecond : public testing::RevisitArchive, public ::testing::WithParamInterface<Twins> {
 protected:
  void ImportTwins() {
    Import(Redirect("r", GetParam().redirect, kMoment, GetParam().page) +
           Response("p", GetParam().page, kMoment, "the page"));
  }
  std::string ToPage() const { return RefersTo(GetParam().page, kMoment); }
};

INSTANTIATE_TEST_SUITE_P(Of, SameSecond,
                         ::testing::Values(Twins{"http://n.org/", "https://n.org/"},
                                           Twins{"http://n.org/", "http://www.n.org/"},
                                           Twins{"http://www.n.org/", "http://n.org"}));

TEST_P(SameSecond, D6_NotModifiedIsThePageThatItNames) {
  ImportTwins();
  Import(Revisit("1", GetParam().page, "2005-01-01T00:00:00Z", kNotModified + ToPage(), 304) +
         Revisit("2", GetParam().page, "2005-02-01T00:00:00Z",
                 kNotModified + ToPage() + RefersTo("p"), 304) +
         Revisit("3", GetParam().page, "2005-03-01T00:00:00Z", kNotModified, 304));
  for (const std::uint32_t batch : {200501, 200502, 200503}) {
    EXPECT_EQ(PayloadOf(GetParam().page, batch), "the page") << batch;
    EXPECT_THAT(ExportOf(GetParam().page, batch), HasSubstr("\r\n\r\nthe page\r\n")) << batch;
  }
  EXPECT_EQ(UnresolvedOfLastRun(), 0u);
}

TEST_P(SameSecond, D6_WithoutADigestItIsWhatIsNamed) {
  ImportTwins();
  Import(
      Revisit("1", GetParam().page, "2005-01-01T00:00:00Z", kIdentical + ToPage()) +
      Revisit("2", GetParam().page, "2005-02-01T00:00:00Z", kIdentical + ToPage() + RefersTo("p")));
  for (const std::uint32_t batch : {200501, 200502}) {
    EXPECT_EQ(PayloadOf(GetParam().page, batch), "the page") << batch;
    EXPECT_THAT(ExportOf(GetParam().page, batch), HasSubstr("\r\n\r\nthe page\r\n")) << batch;
  }
}

TEST_P(SameSecond, I7_ThePayloadOfAPageThatIsPurgedIsInherited) {
  ImportTwins();
  Import(Revisit("1", GetParam().page, "2005-01-01T00:00:00Z",
                 kNotModified + ToPage() + RefersTo("p"), 304) +
         Revisit("2", GetParam().page, "2005-02-01T00:00:00Z", kIdentical + ToPage()));
  CaptureQuery page = OfBatch(200405);
  page.shows = [](std::string_view, const catalog::Capture& row) { return row.status == 200; };
  Drop(page);
  for (const std::uint32_t batch : {200501, 200502}) {
    EXPECT_EQ(PayloadOf(GetParam().page, batch), "the page") << batch;
  }
  EXPECT_EQ(plan_.captures.size(), 1u);
  ExpectNoDefects();
}

// Nor when it comes later.
TEST_P(SameSecond, D6_APageThatIsNotHereIsNotItsRedirect) {
  Import(Redirect("r", GetParam().redirect, kMoment, GetParam().page));
  Import(Revisit("1", GetParam().page, "2005-01-01T00:00:00Z",
                 kIdentical + Sha1("the page") + ToPage()) +
         Revisit("2", GetParam().page, "2005-02-01T00:00:00Z", kNotModified + ToPage(), 304) +
         Revisit("3", GetParam().page, "2005-03-01T00:00:00Z", kIdentical + ToPage()));
  EXPECT_EQ(UnresolvedOfLastRun(), 3u);
  for (const std::uint32_t batch : {200501, 200502, 200503}) {
    EXPECT_THAT(PayloadOf(GetParam().page, batch), HasSubstr("is not in this archive")) << batch;
    EXPECT_THAT(ExportOf(GetParam().page, batch), HasSubstr("WARC-Type: revisit")) << batch;
  }
  const int revisits = files_;
  Import(Response("p", GetParam().page, kMoment, "the page"));
  files_ = revisits;
  EXPECT_EQ(UnresolvedOfLastRun(), 0u);
  for (const std::uint32_t batch : {200501, 200502, 200503}) {
    EXPECT_EQ(PayloadOf(GetParam().page, batch), "the page") << batch;
  }
}

class Meant : public testing::RevisitArchive {};

TEST_F(Meant, D6_IsTheExactUriAndMillisecond) {
  Import(Response("1", "http://a/", "2004-05-01T10:00:00.000Z", "http 0") +
         Response("2", "http://a/", "2004-05-01T10:00:00.250Z", "http 250") +
         Response("3", "https://a/", "2004-05-01T10:00:00.250Z", "https 250") +
         Response("4", "https://a/", "2004-05-01T10:00:00.500Z", "https 500") +
         Response("5", "http://b/", "2004-05-01T10:00:00.500Z", "http b") +
         Response("6", "https://b/", "2004-05-01T10:00:00.750Z", "https b"));
  const auto ask = [&](const std::string& profile, int month, const std::string& url,
                       const std::string& date) {
    return Revisit(fmt::format("{}{}", profile.size(), month), "http://r/",
                   fmt::format("2005-{:02}-01T00:00:00Z", month), profile + RefersTo(url, date),
                   profile == kNotModified ? 304 : 200);
  };
  std::string revisits;
  for (const int base : {0, 5}) {
    const char* const profile = base == 0 ? kNotModified : kIdentical;
    revisits += ask(profile, base + 1, "http://a/", "2004-05-01T10:00:00.250Z") +
                ask(profile, base + 2, "https://a/", "2004-05-01T10:00:00.250Z") +
                ask(profile, base + 3, "https://a/", "2004-05-01T10:00:00.500Z") +
                ask(profile, base + 4, "http://a/", "2004-05-01T10:00:00Z") +
                // Its date says less than that of the capture.
                ask(profile, base + 5, "https://b", "2004-05-01T10:00:00Z");
  }
  Import(revisits);
  for (std::uint32_t batch = 200501; batch <= 200506; batch += 5) {
    EXPECT_EQ(PayloadOf("http://r/", batch), "http 250");
    EXPECT_EQ(PayloadOf("http://r/", batch + 1), "https 250");
    EXPECT_EQ(PayloadOf("http://r/", batch + 2), "https 500");
    EXPECT_EQ(PayloadOf("http://r/", batch + 3), "http 0");
    EXPECT_EQ(PayloadOf("http://r/", batch + 4), "https b");
  }
}

TEST_F(Meant, D6_IsTheRecordIdWhereUriAndDateAreTheSame) {
  Import(Response("1", "http://a/", kMoment, "one") + Response("2", "http://a/", kMoment, "two") +
         Response("3", "https://a/", kMoment, "three"));
  std::string revisits;
  for (const char* id : {"1", "2", "3"}) {
    revisits +=
        Revisit(fmt::format("m{}", id), "http://r/", fmt::format("2005-0{}-01T00:00:00Z", id),
                kNotModified + RefersTo("http://a/", kMoment) + RefersTo(id), 304) +
        Revisit(fmt::format("i{}", id), "http://r/", fmt::format("2006-0{}-01T00:00:00Z", id),
                kIdentical + RefersTo("http://a/", kMoment) + RefersTo(id));
  }
  Import(revisits);
  for (const std::uint32_t year : {200500, 200600}) {
    EXPECT_EQ(PayloadOf("http://r/", year + 1), "one");
    EXPECT_EQ(PayloadOf("http://r/", year + 2), "two");
    EXPECT_EQ(PayloadOf("http://r/", year + 3), "three");
  }
}

TEST_F(Meant, D6_OfTwoAnswersInASecondIsTheOneWithThatStatus) {
  Import(Redirect("1", "http://a/", kMoment, "http://a/") +
         Response("2", "http://a/", "2004-05-01T10:00:00.300Z", "the page"));
  Import(Revisit("3", "http://a/", "2005-01-01T00:00:00Z",
                 kIdentical + RefersTo("http://a/", kMoment)));
  EXPECT_EQ(PayloadOf("http://a/", 200501), "the page");
}

// Rows have the SHA-256 of the payload; this one is of the body as it was sent.
TEST_F(Meant, D6_IsWhatClaimsTheSameDigest) {
  const std::string claim = Claim(DigestAlgorithm::kSha256, "3\r\none\r\n0\r\n\r\n");
  Import(Response("1", "http://a/", kMoment, "one", claim) +
         Response("2", "https://a/", kMoment, "two"));
  // Of another file only that the rows are away is known: nothing is looked for there.
  Import(Response("3", "http://x/", kMoment, "elsewhere"));
  ASSERT_TRUE(fs_.Remove("a/volumes/main/00000002.rows"));
  Import(Revisit("4", "http://b/", "2005-01-01T00:00:00Z",
                 kIdentical + claim + RefersTo("http://a/", kMoment)));
  EXPECT_EQ(PayloadOf("http://b/", 200501), "one");
}

TEST_F(Meant, D6_APayloadWithTheDigestComesBeforeWhatIsNamedWithAnother) {
  Import(Response("1", "http://a/", kMoment, "one") + Response("2", "http://x/", kMoment, "two") +
         Response("3", "http://y/", kMoment, "three"));
  Import(Revisit("4", "http://b/", "2005-01-01T00:00:00Z",
                 kIdentical + Sha1("two") + RefersTo("http://a/", kMoment)) +
         Revisit("5", "http://b/", "2005-02-01T00:00:00Z",
                 kIdentical + Sha1("nowhere") + RefersTo("http://a/", kMoment) + RefersTo("3")) +
         Revisit("6", "http://b/", "2005-03-01T00:00:00Z",
                 kIdentical + Sha1("nowhere") + RefersTo("http://a/", kMoment)));
  EXPECT_EQ(PayloadOf("http://b/", 200501), "two");
  EXPECT_EQ(PayloadOf("http://b/", 200502), "three");
  EXPECT_EQ(PayloadOf("http://b/", 200503), "one");
  EXPECT_EQ(UnresolvedOfLastRun(), 0u);
}

TEST_F(Meant, D6_OfTwoWithOtherDigestsIsNeither) {
  Import(Response("1", "http://a/", kMoment, "one") +
         Response("2", "http://a/", "2004-05-01T10:00:00.500Z", "three"));
  Import(Revisit("3", "http://b/", "2005-01-01T00:00:00Z",
                 kIdentical + Sha1("two") + RefersTo("http://a/", kMoment)));
  EXPECT_THAT(PayloadOf("http://b/", 200501), HasSubstr("is not in this archive"));
  EXPECT_EQ(UnresolvedOfLastRun(), 1u);
}

TEST_F(Meant, I7_WhatWasTakenDownIsNotAnotherCaptureOfItsSecond) {
  Import(Response("1", "http://a/", kMoment, "one") + Response("2", "http://a/", kMoment, "two"));
  Import(Revisit("3", "http://b/", "2005-01-01T00:00:00Z", kIdentical + Sha1("two")) +
         Revisit("4", "http://b/", "2005-02-01T00:00:00Z",
                 kIdentical + Sha1("two") + RefersTo("http://a/", kMoment)) +
         Revisit("5", "http://b/", "2005-03-01T00:00:00Z",
                 kIdentical + RefersTo("http://a/", kMoment) + RefersTo("2")) +
         Revisit("6", "http://b/", "2005-04-01T00:00:00Z",
                 kNotModified + RefersTo("http://a/", kMoment) + RefersTo("2"), 304));
  CaptureQuery two = OfBatch(200405);
  two.shows = [](std::string_view, const catalog::Capture& row) { return row.id.serial == 1; };
  const auto plan = PlanRemoval(archive_->View(), two);
  ASSERT_TRUE(plan && CarryOut(*archive_, *plan, {"because", ""}, clock_, random_));
  ASSERT_EQ(plan->captures.size(), 1u);
  const auto expect_inherited = [&] {
    for (std::uint32_t batch = 200501; batch <= 200504; ++batch) {
      EXPECT_EQ(PayloadOf("http://b/", batch), "two") << batch;
      EXPECT_THAT(ExportOf("http://b/", batch), HasSubstr("\r\n\r\ntwo\r\n")) << batch;
    }
    ExpectNoDefects();
  };
  expect_inherited();
  ASSERT_TRUE(PurgeRemoved(*archive_));
  expect_inherited();
}

TEST_F(Meant, D6_WhatWasTakenDownBeforeItsRevisitCameIsSaidToBe) {
  Import(Response("1", "http://a/", kMoment, "one") + Response("2", "http://a/", kMoment, "two"));
  CaptureQuery two = OfBatch(200405);
  two.shows = [](std::string_view, const catalog::Capture& row) { return row.id.serial == 1; };
  const auto plan = PlanRemoval(archive_->View(), two);
  ASSERT_TRUE(plan && CarryOut(*archive_, *plan, {"because", ""}, clock_, random_));
  Import(Revisit("3", "http://b/", "2005-01-01T00:00:00Z",
                 kIdentical + Sha1("two") + RefersTo("http://a/", kMoment)) +
         Revisit("4", "http://b/", "2005-02-01T00:00:00Z",
                 kIdentical + RefersTo("http://a/", kMoment) + RefersTo("2")) +
         Revisit("5", "http://b/", "2005-03-01T00:00:00Z",
                 kIdentical + Sha1("one") + RefersTo("http://a/", kMoment)));
  EXPECT_THAT(PayloadOf("http://b/", 200501), HasSubstr("was taken down"));
  EXPECT_THAT(PayloadOf("http://b/", 200502), HasSubstr("was taken down"));
  EXPECT_EQ(PayloadOf("http://b/", 200503), "one");
  EXPECT_EQ(UnresolvedOfLastRun(), 2u);
  ASSERT_TRUE(PurgeRemoved(*archive_));
  EXPECT_THAT(PayloadOf("http://b/", 200501), HasSubstr("was taken down"));
  // Another copy of it is as good.
  Import(Response("7", "http://a/", kMoment, "two"));
  EXPECT_EQ(PayloadOf("http://b/", 200501), "two");
}

}  // namespace
}  // namespace stele::archive
