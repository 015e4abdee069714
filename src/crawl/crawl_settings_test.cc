#include "crawl/crawl_settings.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

TEST(CrawlSettings, I1_AJobFileSaysAgainWhatWasAsked) {
  CrawlSettings settings;
  settings.seeds = {"http://a.org/", "https://b.org/\"x\""};
  settings.reach = Reach::kDomain;
  settings.rules = {"-regex:.*\\.iso", "+host:c.org"};
  settings.depth_max = 7;
  settings.share = {2, 5};
  settings.politeness.delay = std::chrono::milliseconds(2500);
  settings.politeness.delay_factor = 1.5;
  settings.politeness.delay_min = std::chrono::milliseconds(500);
  settings.politeness.delay_max = std::chrono::milliseconds(60'000);
  settings.politeness.crawl_delay_max = std::chrono::milliseconds(0);
  settings.robots = RobotsPolicy::kEmbeds;
  settings.sitemaps = false;
  settings.favicons = false;
  settings.contact = "crawl@a.org";
  settings.logins_file = "/x/logins";
  settings.cookies_file = "/x/cookies.txt";
  settings.duplicates = {.match = Match::kAny,
                         .equivalent = false,
                         .mime = "^text/.*",
                         .whitelist = true,
                         .size_min = 100,
                         .before_links = true,
                         .origin = "march 2006",
                         .index = "/x/march.index",
                         .analysis = dedup::HeaderAnalysis::kTimestampAndEtag,
                         .headers = dedup::HeaderScheme::kTimestampOrEtag,
                         .abort = true,
                         .headers_text = true};
  settings.pages_max = 1000;
  settings.bytes_max = 5'000'000'000;
  settings.time_max = std::chrono::seconds(600);
  settings.file_bytes_max = 1 << 20;
  settings.file_time_max = std::chrono::seconds(0);
  settings.idle_time_max = std::chrono::seconds(7);
  settings.host_urls_max = 99;
  settings.query_urls_max = 98;
  settings.same_pages_max = 0;
  settings.same_answers_max = 7;
  settings.tries_max = 9;
  settings.connections = 17;
  settings.resolve = {{"a.org", "127.0.0.2"}};
  settings.proxy = net::FetchProxy{"proxy.example", 8080, ""};
  const std::string text = FormatSettings(settings);
  const Result<CrawlSettings> again = ParseSettings(text, "job.toml");
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(FormatSettings(*again), text);
  EXPECT_EQ(again->seeds, settings.seeds);
  EXPECT_EQ(again->rules, settings.rules);
  EXPECT_EQ(again->share, settings.share);
  EXPECT_EQ(again->politeness.delay, settings.politeness.delay);
  EXPECT_EQ(again->politeness.delay_factor, 1.5);
  EXPECT_EQ(again->politeness.delay_min, settings.politeness.delay_min);
  EXPECT_EQ(again->politeness.delay_max, settings.politeness.delay_max);
  EXPECT_EQ(again->politeness.crawl_delay_max, settings.politeness.crawl_delay_max);
  EXPECT_EQ(again->robots, settings.robots);
  EXPECT_EQ(again->resolve, settings.resolve);
  EXPECT_EQ(again->proxy, settings.proxy);
  EXPECT_EQ(again->bytes_max, settings.bytes_max);
  EXPECT_EQ(again->time_max, settings.time_max);
  EXPECT_EQ(again->file_time_max, settings.file_time_max);
  EXPECT_EQ(again->idle_time_max, settings.idle_time_max);
  EXPECT_EQ(again->query_urls_max, settings.query_urls_max);
  EXPECT_EQ(again->same_pages_max, settings.same_pages_max);
  EXPECT_EQ(again->same_answers_max, settings.same_answers_max);
  EXPECT_EQ(again->duplicates, settings.duplicates);
}

TEST(CrawlSettings, I1_WrongJobFilesAreNamed) {
  for (const char* wrong : {"seeds = [",
                            "share = \"5/2\"",
                            "seeds = \"a\"",
                            "moon = 1",
                            "depth = -1",
                            "delay = nan",
                            "delay_factor = -1",
                            "max_crawl_delay = \"1m\"",
                            "min_delay = 60",
                            "max_delay = 0.5",
                            "seeds = [1]",
                            "scope = \"moon\"",
                            "robots = \"maybe\"",
                            "proxy = \"ftp://a.org/\"",
                            "dedup = \"often\"",
                            "dedup_mime = \"(\"",
                            "dedup_whitelist = true",
                            "dedup_headers = \"date\"",
                            "dedup_headers = \"etag\"\ndedup = \"off\"",
                            "dedup_min_size = \"1\"",
                            "rules = [\"host:a.org\"]",
                            "rules = [\"+moon:a.org\"]",
                            "every = \"often\"",
                            "every = 7",
                            "connections = 0",
                            "resolve = [\"a.org\"]",
                            "resolve = [\"a.org=moon\"]",
                            "dedup_abort = true",
                            "dedup_text = true",
                            "seeds = [\"ftp://a.org/\"]"}) {
    const Result<CrawlSettings> settings = ParseSettings(wrong, "x/job.toml");
    ASSERT_FALSE(settings) << wrong;
    // File, line and, where it is one and not how several go together, the key.
    EXPECT_TRUE(settings.error().text.starts_with("x/job.toml:1: ")) << settings.error().text;
    const std::string key = std::string(wrong).substr(0, std::string(wrong).find(' '));
    if (std::string(wrong) == "seeds = [" || key.starts_with("dedup")) continue;
    EXPECT_NE(settings.error().text.find(key), std::string::npos) << settings.error().text;
  }
}

TEST(CrawlSettings, I1_ARunGoesOnAsItBeganAndWithWhatItsJobSaysNow) {
  CrawlSettings then;
  then.seeds = {"http://a.org/"};
  then.rules = {"-host:b.org"};
  then.duplicates.match = Match::kAny;
  CrawlSettings began = then;
  began.rules = {"-host:c.org", "-host:b.org"};
  began.robots = RobotsPolicy::kEmbeds;
  began.duplicates.match = Match::kUrl;
  CrawlSettings now = then;
  now.pages_max = 7;
  now.workers = 9;
  const Result<ResumedSettings> resumed = SettingsToGoOnWith(now, then, began);
  ASSERT_TRUE(resumed) << resumed.error().text;
  EXPECT_EQ(resumed->settings.rules, began.rules);
  EXPECT_EQ(resumed->settings.robots, RobotsPolicy::kEmbeds);
  EXPECT_EQ(resumed->settings.duplicates.match, Match::kUrl);
  EXPECT_EQ(resumed->settings.pages_max, 7U);
  EXPECT_EQ(resumed->settings.workers, 9U);
  EXPECT_EQ(resumed->options, (std::vector<std::string>{"rules", "robots", "dedup"}));
  EXPECT_TRUE(SettingsToGoOnWith(now, then, then)->options.empty());
}

TEST(CrawlSettings, I1_RobotsKnowUsByTheUserAgent) {
  EXPECT_EQ(ProductTokenOf(UserAgentOf({})), "stele");
  EXPECT_EQ(ProductTokenOf("foobot/1.0"), "foobot");
  EXPECT_EQ(ProductTokenOf("Mozilla/5.0 (compatible; foo-bot/1.0; +https://a.org)"), "foo-bot");
  EXPECT_EQ(ProductTokenOf("Mozilla/5.0 (X11; Linux x86_64)"), "stele");
  EXPECT_EQ(ProductTokenOf("(odd)"), "stele");
}

TEST(CrawlSettings, I1_TheUserAgentNamesUsAndTheContact) {
  CrawlSettings settings;
  settings.contact = "https://a.org/bot";
  EXPECT_NE(UserAgentOf(settings).find("stele/"), std::string::npos);
  EXPECT_NE(UserAgentOf(settings).find("+https://a.org/bot"), std::string::npos);
  settings.user_agent = "other";
  EXPECT_EQ(UserAgentOf(settings), "other");
}

}  // namespace
}  // namespace stele::crawl
