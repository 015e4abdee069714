#include "archive/host_tally.h"

#include <gtest/gtest.h>

#include "formats/url/surt.h"

namespace stele::archive {
namespace {

void Count(HostTally& tally, const std::string& url, std::uint32_t flags, int times) {
  catalog::Capture capture;
  capture.flags = flags;
  capture.length = 10;
  for (int i = 0; i < times; ++i) tally.Add(url::SurtKey(url), capture);
}

TEST(HostTally, ReadsTheHostFromAKey) {
  EXPECT_EQ(HostOfKey(url::SurtKey("http://www.Example.org/a?b")), "example.org");
  EXPECT_EQ(HostOfKey(url::SurtKey("https://news.example.org:8080/")), "news.example.org:8080");
  EXPECT_EQ(HostOfKey(url::SurtKey("http://192.0.2.7/")), "192.0.2.7");
  EXPECT_EQ(HostOfKey(url::SurtKey("dns:www.example.org")), "");
}

TEST(HostTally, KeepsTheHostsWithMostOfThem) {
  for (const auto by : {HostTally::By::kCaptures, HostTally::By::kPages}) {
    HostTally tally(2, by);
    Count(tally, "http://a.com/", catalog::kPage, 3);
    Count(tally, "http://b.com/1", 0, 6);
    Count(tally, "http://b.com/2", catalog::kPage, 1);
    Count(tally, "http://c.com/", catalog::kPage, 4);
    const HostCount a{"a.com", 3, 3, 30};
    const HostCount b{"b.com", 7, 1, 70};
    const HostCount c{"c.com", 4, 4, 40};
    EXPECT_EQ(tally.hosts(), 3u);
    EXPECT_EQ(tally.Largest(), by == HostTally::By::kCaptures ? (std::vector<HostCount>{b, c})
                                                              : (std::vector<HostCount>{c, a}));
  }
  EXPECT_TRUE(HostTally(2, HostTally::By::kPages).Largest().empty());
}

}  // namespace
}  // namespace stele::archive
