#include "catalog/location_entry.h"

#include <gtest/gtest.h>

#include "catalog/selection.h"

namespace stele::catalog {
namespace {

TEST(LocationEntry, P2_PositionsSortAsEntriesDo) {
  std::vector<LocationEntry> entries;
  for (const std::string_view key : {"com,a)/", "com,a)/!", "com,a)/b", "com,a:8)/"}) {
    for (const std::int64_t time : {-5000l, -1l, 0l, 1l, 1083369600000l}) {
      for (const CaptureId id :
           {CaptureId{200405, 0}, CaptureId{200405, 7}, CaptureId{200406, 1}}) {
        entries.push_back({key, {time}, id});
      }
    }
    entries.push_back(FirstOf(key));
    entries.push_back(LastOf(key));
  }
  for (const LocationEntry& a : entries) {
    LocationEntry again;
    const std::string bytes = EncodePosition(a);
    ASSERT_TRUE(DecodePosition(bytes, again));
    EXPECT_EQ(again, a);
    for (const LocationEntry& b : entries) {
      EXPECT_EQ(a < b, bytes < EncodePosition(b)) << a.key << ' ' << b.key;
    }
  }
  LocationEntry entry;
  EXPECT_FALSE(DecodePosition("short", entry));
  EXPECT_FALSE(DecodePosition("no zero byte before 16 others", entry));
}

TEST(LocationEntry, P2_SteppingBackSkipsNothing) {
  LocationEntry entry{"k", {5}, {1, 1}};
  EXPECT_TRUE(StepBack(entry));
  EXPECT_EQ(entry, (LocationEntry{"k", {5}, {1, 0}}));
  EXPECT_TRUE(StepBack(entry));
  EXPECT_EQ(entry, (LocationEntry{"k", {5}, {0, 0xFFFF'FFFF}}));
  entry.id = {0, 0};
  EXPECT_TRUE(StepBack(entry));
  EXPECT_EQ(entry, (LocationEntry{"k", {4}, {0xFFFF'FFFF, 0xFFFF'FFFF}}));
  entry = FirstOf("k");
  EXPECT_FALSE(StepBack(entry));
}

TEST(LocationEntry, P2_LongKeysEndInAHash) {
  const std::string longest(kLocationKeyMax, 'a');
  EXPECT_EQ(LocationKey(longest), longest);
  const std::string a = LocationKey(longest + "1");
  const std::string b = LocationKey(longest + "2");
  EXPECT_EQ(a.size(), kLocationKeyMax);
  EXPECT_NE(a, b);
  EXPECT_EQ(a.substr(0, kLocationKeyKept + 1), std::string(kLocationKeyKept, 'a') + '~');
}

TEST(Selection, P3_HostsAndDomainsTakeWhatIsTheirs) {
  const Selection host = SelectHost("www.example.org");
  EXPECT_TRUE(host.Has("org,example)/"));
  EXPECT_TRUE(host.Has("org,example:8080)/a"));
  EXPECT_FALSE(host.Has("org,example,sub)/"));
  EXPECT_FALSE(host.Has("org,example-shop)/"));
  EXPECT_FALSE(host.Has("org,example"));
  const Selection domain = SelectDomain("example.org");
  EXPECT_TRUE(domain.Has("org,example)/"));
  EXPECT_TRUE(domain.Has("org,example:8080)/a"));
  EXPECT_TRUE(domain.Has("org,example,sub:81)/"));
  EXPECT_FALSE(domain.Has("org,example-shop)/"));
  EXPECT_FALSE(domain.Has("org,examples)/"));
}

TEST(Selection, P3_UrlsAndPrefixesTakeWhatIsTheirs) {
  EXPECT_TRUE(SelectUrl("http://www.example.org/A").Has("org,example)/a"));
  EXPECT_FALSE(SelectUrl("http://www.example.org/A").Has("org,example)/a/"));
  EXPECT_TRUE(SelectPrefix("org,example)/a")->Has("org,example)/a"));
  EXPECT_TRUE(SelectPrefix("org,example)/a")->Has("org,example)/a~~"));
  EXPECT_FALSE(SelectPrefix("org,example)/a")->Has("org,example)/b"));
  EXPECT_TRUE(
      SelectPrefix(std::string(kLocationKeyKept, 'a'))->Has(LocationKey(std::string(1000, 'a'))));
  EXPECT_EQ(SelectPrefix(std::string(kLocationKeyKept + 1, 'a')).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(SelectAll().Has("!"));
  EXPECT_TRUE(SelectAll().Has("~~~"));
}

}  // namespace
}  // namespace stele::catalog
