#include "crawl/candidate.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

Candidate WithHops(const std::string& hops) {
  Candidate candidate;
  candidate.url = "http://a.org/";
  candidate.hops = hops;
  return candidate;
}

TEST(Candidate, I1_HopsTellPagesFromWhatTheyNeed) {
  EXPECT_TRUE(WithHops("").is_page());
  EXPECT_TRUE(WithHops("LL").is_page());
  EXPECT_TRUE(WithHops("LR").is_page());  // a page, though elsewhere
  EXPECT_TRUE(WithHops("ML").is_page());
  EXPECT_FALSE(WithHops("E").is_page());
  EXPECT_EQ(WithHops("LLERE").embed_hops(), 3U);
  EXPECT_EQ(WithHops("LEL").embed_hops(), 0U);
  EXPECT_EQ(WithHops("LELLR").depth(), 3U);
}

TEST(Candidate, I1_ASitemapIsOneAlsoBehindRedirects) {
  for (const char* hops : {"M", "MR", "MRR", "MRM", "LMR"}) {
    EXPECT_TRUE(WithHops(hops).is_sitemap()) << hops;
  }
  for (const char* hops : {"", "R", "L", "ML", "MLR", "MRE"}) {
    EXPECT_FALSE(WithHops(hops).is_sitemap()) << hops;
  }
}

TEST(Candidate, I1_SeedsThenEmbedsThenLinksByDepthThenRetries) {
  Candidate seed = WithHops("R");
  seed.seed = true;
  Candidate retried = WithHops("");
  retried.tries = 1;
  const Candidate order[] = {seed, WithHops("LLLE"), WithHops("L"), WithHops("LL"), retried};
  for (std::size_t i = 1; i < std::size(order); ++i) {
    EXPECT_LT(PriorityOf(order[i - 1]), PriorityOf(order[i])) << i;
  }
  EXPECT_EQ(PriorityOf(WithHops("LLR")), PriorityOf(WithHops("E")));
  EXPECT_LT(PriorityOf(WithHops(std::string(1000, 'L'))), PriorityOf(retried));
}

TEST(Candidate, I1_ComesBackAsItWas) {
  Candidate candidate{
      "http://a.org/?x=\xc3\xa9", "http://b.org/", "LLE", "http://b.org/", true, 7, 2, true};
  const std::string bytes = EncodeCandidate(candidate);
  const Result<Candidate> again = DecodeCandidate(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, candidate);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeCandidate(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodeCandidate(bytes + 'x'));
}

TEST(Candidate, I1_SessionIdsDoNotMakeAnotherUrl) {
  const std::string plain = SeenKey("http://a.org/p?id=7");
  EXPECT_EQ(SeenKey("http://a.org/p?id=7&PHPSESSID=0123456789abcdef0123456789abcdef"), plain);
  EXPECT_EQ(SeenKey("http://a.org/p?sid=0123456789abcdef0123456789abcdef&id=7"), plain);
  EXPECT_EQ(SeenKey("http://a.org/p;jsessionid=0123456789ABCDEF?id=7"), plain);
  EXPECT_EQ(SeenKey("http://a.org/p?CFID=1&CFTOKEN=22&id=7"), plain);
  const std::string page = SeenKey("http://a.org/x/p.aspx?id=7");
  EXPECT_EQ(SeenKey("http://a.org/x/(lit3py55t21z5v55vlm25s55)/p.aspx?id=7"), page);
  EXPECT_EQ(SeenKey("http://a.org/(S(lit3py55t21z5v55vlm25s55))/x/p.aspx?id=7"), page);
  EXPECT_EQ(SeenKey("http://a.org/(A(bc)S(lit3py55t21z5v55vlm25s55)F(d))/x/p.aspx?id=7"), page);
  for (const char* other : {"http://a.org/x/(lit3py55t21z5)/p.aspx?id=7",
                            "http://a.org/x/(the-harbour-in-the-winter)/p.aspx?id=7",
                            "http://a.org/x/(lit3py55t21z5v55vlm25s55/p.aspx?id=7"}) {
    EXPECT_NE(SeenKey(other), page) << other;
  }
  EXPECT_EQ(SeenKey("http://a.org//b/(c)/"), "http://a.org//b/(c)/");
  // What may be another page stays one.
  for (const char* other :
       {"http://a.org/p?sid=7&id=7", "http://a.org/p?sid=the-harbour-in-winter-2026&id=7",
        "http://a.org/p?id=7&session_id=123e4567-e89b-42d3-a456-426614174000",
        "http://a.org/p?id=7&sid=theharbourinwinterandsummertoday", "http://a.org/P?id=7",
        "https://a.org/p?id=7", "http://www.a.org/p?id=7", "http://a.org/p?id=7&",
        "http://a.org/p;v=1?id=7"}) {
    EXPECT_NE(SeenKey(other), plain) << other;
  }
}

TEST(Candidate, I1_ASessionBeginsWhereAUrlWithoutItsIdIsRedirectedToItselfWithOne) {
  const std::string page = "http://a.org/x/p.aspx?id=7";
  const std::string session = "http://a.org/(S(lit3py55t21z5v55vlm25s55))/x/p.aspx?id=7";
  const std::string other = "http://a.org/(S(00000000000000000000000b))/x/p.aspx?id=7";
  EXPECT_TRUE(BeginsSession(page, session));
  EXPECT_TRUE(BeginsSession("http://a.org/p", "http://a.org/p;jsessionid=0123456789ABCDEF"));
  EXPECT_FALSE(BeginsSession(session, page));
  EXPECT_FALSE(BeginsSession(session, other));
  EXPECT_FALSE(BeginsSession(page, page));
  EXPECT_FALSE(BeginsSession("http://a.org/", session));
  Candidate candidate;
  candidate.url = session;
  candidate.via = page;
  candidate.hops = "L";
  EXPECT_EQ(SeenKeyOf(candidate), page);
  candidate.hops = "LR";
  EXPECT_EQ(SeenKeyOf(candidate), session);
}

}  // namespace
}  // namespace stele::crawl
