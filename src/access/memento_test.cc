#include "access/memento.h"

#include <algorithm>
#include <map>
#include <set>

#include "access/test_access.h"
#include "util/test_paths.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::Serving;
using testing::WarcText;

class Mementos : public Serving {
 protected:
  // The target of the link with this relation; empty where there is none.
  std::string Linked(const std::string& links, const std::string& rel) const {
    const std::size_t at = links.find("rel=\"" + rel + "\"");
    if (at == std::string::npos) return "";
    const std::size_t begin = links.rfind('<', at);
    const std::size_t end = links.find('>', begin);
    const std::string url = links.substr(begin + 1, end - begin - 1);
    return url.starts_with(Origin()) ? url.substr(Origin().size()) : url;
  }
  // The mementos of a TimeMap, as paths.
  std::vector<std::string> MementosOf(const std::string& url) {
    std::vector<std::string> paths;
    const std::string map = Get("/timemap/link/" + url).body;
    for (const std::string_view line : Split(map, '\n')) {
      if (line.find("memento\"; datetime=") == std::string_view::npos) continue;
      paths.emplace_back(line.substr(1 + Origin().size(), line.find('>') - 1 - Origin().size()));
    }
    return paths;
  }

  // From the TimeMap of a URL over all its mementos, which are of these times: the TimeGate leads
  // to each at its time, and each knows its neighbours. Returns how many were seen: redirects of a
  // URL to itself (http to https, a slash more) lead to the next one, or to nothing.
  std::size_t Walk(const std::string& url, const std::set<std::string>& times) {
    const std::vector<std::string> paths = MementosOf(url);
    EXPECT_EQ(paths.size(), times.size()) << url;
    std::size_t seen = 0;
    auto time = times.begin();
    for (std::size_t i = 0; i < paths.size() && time != times.end(); ++i, ++time) {
      EXPECT_EQ(paths[i].substr(5, 14), *time) << url;
      const std::string date = FormatHttpDate(*ParseDigits(*time));
      const Answer gate = Get("/timegate/" + url, "Accept-Datetime: " + date + "\r\n");
      EXPECT_EQ(gate.Header("Location"), paths[i]) << url;
      const Answer memento = Get(paths[i]);
      if (memento.Header("Memento-Datetime").empty()) {
        const std::string other = memento.Header("Location");
        EXPECT_TRUE(memento.status == 404 ||
                    std::find(paths.begin(), paths.end(), other) != paths.end())
            << paths[i] << " " << memento.status << " " << other;
        continue;
      }
      ++seen;
      EXPECT_EQ(memento.Header("Memento-Datetime"), date) << paths[i];
      const std::string links = memento.Header("Link");
      EXPECT_EQ(
          Get(Linked(links, "timegate"), "Accept-Datetime: " + date + "\r\n").Header("Location"),
          paths[i]);
      const std::string before = Linked(links, "prev memento");
      const std::string after = Linked(links, "next memento");
      EXPECT_EQ(before, i == 0 ? "" : paths[i - 1]) << paths[i];
      EXPECT_EQ(after, i + 1 == paths.size() ? "" : paths[i + 1]) << paths[i];
    }
    return seen;
  }
};

TEST_F(Mementos, I7_ATimeGateLeadsToTheNearest) {
  Bring(WarcText()
            .Response("http://a.org/", "2010-01-01T00:00:00Z", "x")
            .Response("http://a.org/", "2012-01-01T00:00:00Z", "y")
            .Response("http://a.org/", "2014-01-01T00:00:00Z", "z"));
  Serve();
  for (const std::string gate : {"/web/http://a.org/", "/timegate/http://a.org/"}) {
    const Answer last = Get(gate);
    EXPECT_EQ(last.status, 302);
    EXPECT_EQ(last.Header("Location"), "/web/20140101000000/http://a.org/");
    EXPECT_EQ(last.Header("Vary"), "accept-datetime");
    EXPECT_EQ(last.Header("Memento-Datetime"), "");
    const Answer near = Get(gate, "Accept-Datetime: Sun, 01 Jan 2012 05:00:00 GMT\r\n");
    EXPECT_EQ(near.Header("Location"), "/web/20120101000000/http://a.org/");
    const std::string links = near.Header("Link");
    EXPECT_EQ(Linked(links, "original"), "http://a.org/");
    EXPECT_EQ(Linked(links, "timegate"), "/web/http://a.org/");
    EXPECT_EQ(Linked(links, "timemap"), "/web/timemap/link/http://a.org/");
    EXPECT_EQ(Linked(links, "first memento"), "/web/20100101000000/http://a.org/");
    EXPECT_EQ(Linked(links, "last memento"), "/web/20140101000000/http://a.org/");
    EXPECT_EQ(Get(gate, "Accept-Datetime: yesterday\r\n").status, 400);
  }
  EXPECT_EQ(Get("/web/http://b.org/").status, 404);
}

TEST_F(Mementos, I7_TimeMapsComeInThreeForms) {
  Bring(WarcText()
            .Response("http://a.org/", "2010-01-01T00:00:00Z", "x")
            .Response("http://a.org/", "2014-01-01T00:00:00Z", "z"));
  Serve();
  const Answer link = Get("/web/timemap/link/http://a.org/");
  EXPECT_EQ(link.Header("Content-Type"), "application/link-format");
  EXPECT_EQ(Linked(link.body, "first memento"), "/web/20100101000000/http://a.org/");
  EXPECT_EQ(Linked(link.body, "last memento"), "/web/20140101000000/http://a.org/");
  EXPECT_NE(link.body.find("from=\"Fri, 01 Jan 2010 00:00:00 GMT\"; until=\"Wed, 01 Jan 2014 "
                           "00:00:00 GMT\""),
            std::string::npos)
      << link.body;
  EXPECT_EQ(Get("/timemap/link/http://a.org/").body, link.body);
  EXPECT_EQ(Get("/timemap/http://a.org/").body, link.body);
  const Answer json = Get("/timemap/json/http://a.org/");
  EXPECT_NE(json.body.find("{\"datetime\": \"2010-01-01T00:00:00Z\", \"uri\": \"" + Origin() +
                           "/web/20100101000000/http://a.org/\"}"),
            std::string::npos)
      << json.body;
  const Answer cdxj = Get("/timemap/cdxj/http://a.org/");
  EXPECT_NE(cdxj.body.find("\n20140101000000 {\"uri\": \""), std::string::npos) << cdxj.body;
  for (const std::string end : {"first", "last"}) {
    EXPECT_NE(json.body.find(fmt::format("\"{}\": {{\"datetime\"", end)), std::string::npos);
    EXPECT_NE(cdxj.body.find(fmt::format("\"rel\": \"{} memento\"", end)), std::string::npos);
  }
  EXPECT_EQ(Get("/timemap/link/http://b.org/").status, 404);
}

// TimeGate, memento, TimeMap and neighbours agree for every capture.
TEST_F(Mementos, I7_AWalkOverEveryCaptureIsConsistent) {
  WarcText warc;
  std::map<std::string, std::set<std::string>> captured;
  for (int i = 0; i < 40; ++i) {
    const std::string url = fmt::format("http://a.org/{}?q={}", i % 3, i % 3);
    const std::string date = fmt::format("20{:02}-03-0{}T00:00:{:02}Z", 1 + i % 7, 1 + i % 9, i);
    warc.Response(url, date, fmt::format("body {}", i));
    captured[url].insert(FormatDigits14(*ParseIso(date)));
  }
  Bring(warc);
  Serve();
  for (const auto& [url, times] : captured) EXPECT_EQ(Walk(url, times), times.size());
}

TEST_F(Mementos, I7_AWalkOverSamplesOfOthersIsConsistent) {
  std::map<std::string, std::set<std::string>> captured;  // key: times
  std::map<std::string, std::string> urls;                // key: URL
  for (const std::string name : {"iana", "dupes", "post-test"}) {
    const std::optional<std::string> warc = ReadSample("warc-samples/pywb/" + name + ".warc.gz");
    const std::optional<std::string> cdx = ReadSample("warc-samples/pywb/" + name + ".cdx");
    if (!warc || !cdx) GTEST_SKIP() << name << " is not here (STELE_TEST_DATA)";
    Bring(*warc);
    for (const std::string_view line : Split(*cdx, '\n')) {
      const std::vector<std::string_view> columns = Split(line, ' ');
      if (columns.size() != 11) continue;
      const std::string key(columns[0]);
      captured[key].insert(std::string(columns[1]));
      const bool with_body = key.find("__wb_method=") != std::string::npos;
      urls[key] = with_body ? "http://httpbin.org/post" + key.substr(key.find('?'))
                            : std::string(columns[2]);
    }
  }
  Serve();
  std::size_t seen = 0;
  for (const auto& [key, times] : captured) seen += Walk(urls[key], times);
  EXPECT_GT(seen, 150u);
}

TEST_F(Mementos, I7_LongTimeMapsComeInPages) {
  WarcText warc(record::Compression::kNone);
  const std::int64_t begin = ParseIso("2000-01-01T00:00:00Z")->milliseconds;
  for (std::size_t i = 0; i < kTimeMapMementos + 2; ++i) {
    const Timestamp time{begin + static_cast<std::int64_t>(i) * 1000};
    warc.Response("http://a.org/", FormatIso(time), "x");
  }
  Bring(warc);
  Serve();
  const Answer first = Get("/web/timemap/link/http://a.org/");
  const std::string next = Linked(first.body, "next timemap");
  EXPECT_EQ(next, "/web/timemap/link/page2/http://a.org/");
  EXPECT_EQ(Linked(first.body, "last memento"), "");
  const Answer second = Get(next);
  EXPECT_EQ(Linked(second.body, "prev timemap"), "/web/timemap/link/http://a.org/");
  EXPECT_EQ(Linked(second.body, "first memento"), "");
  EXPECT_EQ(Linked(second.body, "last memento"), "/web/20000101024641/http://a.org/");
  EXPECT_EQ(Get("/web/timemap/link/page3/http://a.org/").status, 404);
  for (const std::string format : {"json", "cdxj"}) {
    const std::string map = Origin() + "/web/timemap/" + format;
    const auto has = [&](const std::string& path, const std::string& name, const std::string& to) {
      const std::string body = Get(path).body;
      return body.find(fmt::format("\"{}\": \"{}/http://a.org/\"", name, to)) != std::string::npos;
    };
    const std::string start = "/web/timemap/" + format + "/http://a.org/";
    const std::string end = "/web/timemap/" + format + "/page2/http://a.org/";
    EXPECT_TRUE(has(start, "next", map + "/page2")) << format;
    EXPECT_FALSE(has(start, "prev", map)) << format;
    EXPECT_TRUE(has(end, "prev", map)) << format;
    EXPECT_FALSE(has(end, "next", map + "/page3")) << format;
    EXPECT_EQ(Get("/web/timemap/" + format + "/page3/http://a.org/").status, 404);
  }
}

}  // namespace
}  // namespace stele::access
