#include "access/api.h"

#include <nlohmann/json.hpp>

#include "access/test_access.h"
#include "codec/gzip_codec.h"

namespace stele::access {
namespace {

using nlohmann::json;
using testing::Answer;
using testing::PutFile;
using testing::Serving;
using testing::WarcText;

std::string Page(std::string_view title, std::string_view text) {
  return fmt::format("<title>{}</title><p>{}</p><img src=\"/pic.png\"><img src=\"/gone.png\">",
                     title, text);
}

class Api : public Serving {
 protected:
  json Ask(const std::string& what, int status = 200) {
    const Answer answer = Get("/api/v1/" + what);
    EXPECT_EQ(answer.status, status) << what << answer.body;
    json value = json::parse(answer.body, nullptr, false);
    EXPECT_FALSE(value.is_discarded()) << what << answer.body;
    return value;
  }
  // The same, once the sums are made.
  json AskComplete(const std::string& what) {
    WaitForSums();
    return Ask(what);
  }
  void BringTwoRuns() {
    Bring(WarcText()
              .Response("http://a.org/", "2014-01-01T00:00:00Z", Page("Hello", "one"))
              .Response("http://a.org/pic.png", "2014-01-01T00:01:40Z", "png", "image/png")
              .Response("http://a.org/news/x", "2014-01-02T00:00:00Z", Page("News <b>", "x"))
              .Response("http://a.org/old", "2014-01-02T00:00:00Z", Page("Old", "old")));
    Bring(WarcText(record::Compression::kGzip, 8)
              .Response("http://a.org/", "2014-02-01T00:00:00Z", Page("Hello", "one"))
              .Response("http://a.org/", "2014-02-02T00:00:00Z", Page("Hello", "one") + "<!-- -->")
              .Response("http://a.org/", "2014-02-03T00:00:00Z", Page("Hello", "two"))
              .Response("http://a.org/", "2014-02-04T00:00:00Z", "no", "text/html", 500)
              .Response("http://a.org/news/x", "2014-02-02T00:00:00Z", Page("News <b>", "x"))
              .Response("http://b.org/new", "2014-02-02T00:00:00Z", Page("B", "new")));
    Serve();
  }
};

TEST_F(Api, I7_TellsWhatTheArchiveIs) {
  BringTwoRuns();
  const json archive = AskComplete("archive");
  EXPECT_EQ(archive["title"], "test");
  EXPECT_EQ(archive["captures"], 10);
  EXPECT_EQ(archive["hosts"], 2);
  EXPECT_EQ(archive["runs"], 2);
  EXPECT_EQ(archive["last_run"]["run"], 2);
  EXPECT_EQ(archive["first"], "2014-01-01T00:00:00.000Z");
  EXPECT_EQ(archive["replay_origin"], fmt::format("http://localhost:{}", server_->replay_port()));
  EXPECT_EQ(Ask("archives")["archives"][0]["prefix"], "/");
  EXPECT_EQ(json::parse(Get("/lab/api/v1/archive").body)["prefix"], "/lab/");
  const json sites = Ask("sites");
  EXPECT_EQ(sites["total"], 2);
  EXPECT_EQ(sites["sites"][0]["host"], "a.org");
  EXPECT_EQ(sites["sites"][0]["url"], "http://a.org/");
  EXPECT_EQ(sites["sites"][0]["months"].size(), 2u);
  EXPECT_EQ(Ask("sites?q=b.o")["sites"][0]["host"], "b.org");
  EXPECT_EQ(Ask("sites?sort=last&limit=1")["sites"][0]["host"], "a.org");
  EXPECT_EQ(Ask("sites?sort=up", 400)["code"], "invalid");
  const std::string document = "/api/v1/openapi.yaml";
  const Answer packed = Get(document, "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(packed.Header("Content-Encoding"), "gzip");
  EXPECT_EQ(*codec::GzipCodec().Decompress(packed.body, 1 << 20), Get(document).body);
  Ask("nothing", 404);
}

TEST_F(Api, I8_TheCalendarKnowsWhatChanged) {
  BringTwoRuns();
  const json list = Ask("captures?url=a.org");
  std::vector<std::string> states;
  for (const json& capture : list["captures"]) states.push_back(capture["state"]);
  EXPECT_EQ(states, (std::vector<std::string>{"first", "identical", "same-text", "text", "error"}));
  EXPECT_FALSE(list.contains("resume"));
  // Page by page it is the same.
  std::vector<std::string> again;
  std::string resume;
  for (int i = 0; i < 10; ++i) {
    const json part = Ask("captures?url=a.org&limit=2&resume=" + resume);
    for (const json& capture : part["captures"]) again.push_back(capture["state"]);
    if (!part.contains("resume")) break;
    resume = part["resume"];
  }
  EXPECT_EQ(again, states);
  EXPECT_EQ(Ask("captures?url=a.org&from=20140203")["captures"].size(), 2u);
  EXPECT_EQ(Ask("captures?url=nowhere.org")["captures"].size(), 0u);
  EXPECT_EQ(Ask("timeline?url=a.org")["periods"],
            json::parse(R"([{"period": "2014-01", "captures": 1, "changed": 1},
                            {"period": "2014-02", "captures": 4, "changed": 1}])"));
  Ask("captures", 400);
  Ask("captures?url=a.org&resume=zz", 400);
}

TEST_F(Api, I8_ACaptureKnowsItsNeighbours) {
  BringTwoRuns();
  const json capture = Ask("capture?url=a.org&at=20140201");
  EXPECT_EQ(capture["timestamp"], "20140201000000");
  EXPECT_EQ(capture["title"], "Hello");
  EXPECT_EQ(capture["previous"], "20140101000000");
  EXPECT_EQ(capture["next"], "20140202000000");
  EXPECT_EQ(capture["previous_change"], nullptr);
  EXPECT_EQ(capture["next_change"], "20140203000000");
  EXPECT_EQ(capture["count"], 5);
  EXPECT_EQ(capture["container"], "2.warc.gz");
  EXPECT_EQ(capture["headers"][0], json::parse(R"(["Content-Type", "text/html"])"));
  EXPECT_EQ(Ask("capture?id=" + capture["id"].get<std::string>())["url"], "http://a.org/");
  Ask("capture?id=1/1", 404);
  Ask("capture?url=nowhere.org", 404);
  const json coherence = Ask("coherence?url=a.org&at=2014");
  EXPECT_EQ(coherence["embeds"], 2);
  EXPECT_EQ(coherence["missing"], json::parse(R"(["http://a.org/gone.png"])"));
  EXPECT_EQ(coherence["spread_seconds"], 100);
}

TEST_F(Api, D6_RevisitsAreAsLongAsWhatTheyRepeat) {
  const std::string body = "<title>Hello</title>";
  const std::string first = "2014-01-01T00:00:00Z";
  Bring(WarcText()
            .Response("http://a.org/", first, body)
            .Revisit("http://a.org/", "2014-01-02T00:00:00Z", body, "http://a.org/", first)
            .Revisit("http://b.org/", "2014-01-03T00:00:00Z", body, "http://a.org/", first)
            .Revisit("http://c.org/", "2014-01-03T00:00:00Z", "not here", "http://d.org/", first));
  Serve();
  const json list = Ask("captures?url=a.org");
  EXPECT_EQ(list["captures"][1]["revisit"], true);
  EXPECT_EQ(list["captures"][1]["length"], body.size());
  EXPECT_EQ(Ask("captures?url=a.org&from=20140102")["captures"][0]["length"], body.size());
  EXPECT_EQ(Ask("capture?url=b.org")["length"], body.size());
  EXPECT_EQ(Ask("capture?url=c.org")["length"], 0);
  const json duplicates = AskComplete("statistics")["duplicates"];
  EXPECT_EQ(duplicates["revisits"]["captures"], 3);
  EXPECT_EQ(duplicates["revisits"]["bytes"], 2 * body.size());
  EXPECT_EQ(duplicates["repeated"]["captures"], 1);
  EXPECT_EQ(duplicates["repeated"]["bytes"], body.size());
}

TEST_F(Api, I8_TitlesAndAddressesAreSearched) {
  BringTwoRuns();
  const json hello = AskComplete("search?q=HELLO");
  EXPECT_EQ(hello["total"], 1);
  EXPECT_EQ(hello["results"][0]["url"], "http://a.org/");
  EXPECT_EQ(hello["results"][0]["title"], "Hello");
  EXPECT_EQ(Ask("search?q=a.org+news")["results"][0]["url"], "http://a.org/news/x");
  EXPECT_EQ(Ask("search?q=hello+news")["total"], 0);
  Ask("search?q=", 400);
}

TEST_F(Api, I8_BrowsingGoesDownLevelByLevel) {
  BringTwoRuns();
  const json hosts = AskComplete("browse");
  EXPECT_EQ(hosts["entries"][0]["name"], "a.org");
  EXPECT_EQ(hosts["entries"][0]["urls"], 4);
  const json top = Ask("browse?prefix=" + hosts["entries"][0]["prefix"].get<std::string>());
  std::map<std::string, int> captures;
  for (const json& entry : top["entries"]) captures[entry["name"]] = entry["captures"];
  EXPECT_EQ(captures,
            (std::map<std::string, int>{{"/", 5}, {"news", 2}, {"old", 1}, {"pic.png", 1}}));
  const json news = Ask("browse?prefix=http://a.org/news/");
  EXPECT_EQ(news["entries"][0]["url"], "http://a.org/news/x");
  EXPECT_EQ(Ask("browse?prefix=http://a.org/&limit=1")["resume"], "1");
  // The begin of a name is enough.
  const json begin = Ask("browse?prefix=http://a.org/ne");
  ASSERT_EQ(begin["entries"].size(), 1u) << begin;
  EXPECT_EQ(begin["entries"][0]["name"], "news");
  EXPECT_EQ(begin["entries"][0]["prefix"], "http://a.org/news/");
  EXPECT_EQ(Ask("browse?prefix=a.org")["entries"], top["entries"]);
  for (const std::string domain : {"*.a.org", "http://*.a.org/"}) {
    const json of_domain = Ask("browse?prefix=" + domain);
    EXPECT_EQ(of_domain["prefix"], "*.a.org");
    ASSERT_EQ(of_domain["entries"].size(), 1u) << of_domain;
    EXPECT_EQ(of_domain["entries"][0], hosts["entries"][0]);
  }
  EXPECT_EQ(Ask("browse?prefix=*.org")["entries"], hosts["entries"]);
  EXPECT_EQ(Ask("browse?prefix=*.rg")["entries"].size(), 0u);
}

TEST_F(Api, I8_RunsAreReportedAndCompared) {
  BringTwoRuns();
  EXPECT_EQ(Ask("runs")["runs"][0]["run"], 2);
  EXPECT_EQ(Ask("runs/1")["captures"], 4);
  Ask("runs/9", 404);
  const json report = Ask("runs/2/report");
  EXPECT_EQ(report["all"]["captures"], 6);
  EXPECT_EQ(report["errors"]["first"][0]["status"], 500);
  const json changes = Ask("changes");
  EXPECT_EQ(changes["from_run"], 1);
  EXPECT_EQ(changes["counts"],
            json::parse(R"({"new": 1, "gone": 3, "text": 0, "same-text": 0, "identical": 1})"))
      << changes;
  EXPECT_EQ(changes["changes"].size(), 4u);
  EXPECT_EQ(Ask("changes?state=new")["changes"][0]["url"], "http://b.org/new");
  EXPECT_EQ(Ask("changes?from=201401&to=20140203")["counts"]["text"], 1);
  Ask("changes?to_run=7", 404);
}

// As stele changes does.
TEST_F(Api, I8_RunsThatWereWithdrawnOrInterruptedAreNotComparedByThemselves) {
  const auto page = [](int month, std::uint64_t seed) {
    return WarcText(record::Compression::kGzip, seed)
        .Response("http://a.org/", fmt::format("2014-0{}-01T00:00:00Z", month),
                  Page("Hello", fmt::format("{}", month)))
        .bytes();
  };
  Bring(page(1, 11));
  Bring(page(2, 12));
  Bring(page(3, 13));  // run 3 is withdrawn
  ASSERT_TRUE(archive_->Remove({{201403, 0}}, "a mistake", ""));
  Bring(page(4, 14), {.kind = "patch"});
  // Run 5 is interrupted.
  ASSERT_EQ(*archive_->BeginRun("import", ""), 5u);
  PutFile(fs_, "5.warc.gz", page(5, 15));
  ASSERT_TRUE(archive::ImportFile(*archive_, 5, "5.warc.gz", {}));
  Serve();
  const json changes = Ask("changes");
  EXPECT_EQ(changes["from_run"], 1);
  EXPECT_EQ(changes["to_run"], 2);
  EXPECT_EQ(changes["counts"]["text"], 1) << changes;
  // Whoever names a run means it.
  EXPECT_EQ(Ask("changes?to_run=5")["from_run"], 2);
  EXPECT_EQ(Ask("changes?from_run=3&to_run=5")["counts"]["new"], 1);
}

TEST_F(Api, I8_TextsAreCompared) {
  BringTwoRuns();
  const json diff = Ask("diff?url=a.org&before=20140101&after=20140203");
  EXPECT_EQ(diff["state"], "text");
  EXPECT_EQ(diff["removed"], 1);
  EXPECT_EQ(diff["added"], 1);
  const json lines = diff["hunks"][0]["lines"];
  EXPECT_EQ(lines[lines.size() - 2], json::parse(R"({"op": "removed", "text": "one"})"));
  EXPECT_EQ(lines[lines.size() - 1], json::parse(R"({"op": "added", "text": "two"})"));
  EXPECT_EQ(Ask("diff?url=a.org")["before"]["timestamp"], "20140202000000");
  Ask("diff?url=nowhere.org", 404);
  Ask("diff?url=a.org&before=x&after=y", 400);
}

TEST_F(Api, I8_StatisticsAndBatches) {
  BringTwoRuns();
  const json all = AskComplete("statistics");
  EXPECT_EQ(all["months"].size(), 2u);
  EXPECT_EQ(all["types"][0]["type"], "text/html");
  EXPECT_EQ(all["types"][0]["captures"], 9);
  EXPECT_EQ(all["duplicates"]["repeated"]["captures"], 2);
  const json batches = Ask("batches")["batches"];
  EXPECT_EQ(batches[0]["batch"], 201401);
  EXPECT_EQ(batches[0]["captures"], 4);
  const json first = Ask("batches/201401/captures?limit=3");
  EXPECT_EQ(first["captures"].size(), 3u);
  const json rest = Ask("batches/201401/captures?resume=" + first["resume"].get<std::string>());
  EXPECT_EQ(rest["captures"].size(), 1u);
  EXPECT_EQ(Ask("batches/201401/captures?pages=1")["captures"].size(), 3u);
  Ask("batches/x/captures", 404);
}

TEST_F(Api, W15_WhatIsHiddenIsHiddenInTheApiToo) {
  PutFile(fs_, "a/access.aclj",
          "org,a)/old - {\"access\": \"exclude\"}\norg,b)/ - {\"access\": \"block\"}\n");
  BringTwoRuns();
  EXPECT_EQ(AskComplete("archive")["captures"], 8);
  EXPECT_EQ(Ask("archive")["hosts"], 1);
  EXPECT_EQ(Ask("runs/1")["captures"], 3);
  EXPECT_EQ(Ask("batches")["batches"][0]["captures"], 3);
  EXPECT_EQ(Ask("runs/1/report")["all"]["captures"], 3);
  Ask("capture?url=b.org/new", 451);
  Ask("capture?url=a.org/old", 404);
  Ask("coherence?url=a.org/old", 404);
  Ask("diff?url=a.org/old", 404);
  for (const std::string what :
       {"captures?url=a.org/old", "captures?url=b.org/new", "timeline?url=b.org/new", "sites",
        "search?q=org", "browse", "browse?prefix=http://a.org/", "browse?prefix=http://b.org/",
        "changes?limit=1000&state=new,gone,text,same-text,identical", "statistics",
        "batches/201401/captures", "batches/201402/captures", "capture?id=201401/3",
        "diff?before=201401/3&after=201401/3"}) {
    const std::string body = Get("/api/v1/" + what).body;
    for (const std::string hidden :
         {"\"http://a.org/old\", \"s", "b.org/new\", \"s", "\"b.org\""}) {
      EXPECT_EQ(body.find(hidden), std::string::npos) << what << body;
    }
  }
}

}  // namespace
}  // namespace stele::access
