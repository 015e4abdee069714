#include "access/cdx_server.h"

#include <algorithm>
#include <set>

#include "access/test_access.h"
#include "codec/gzip_codec.h"
#include "util/test_paths.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::Serving;
using testing::WarcText;

class CdxServing : public Serving {
 protected:
  void BringSome() {
    Bring(WarcText(record::Compression::kNone)
              .Response("http://a.org/", "2010-01-01T00:00:00Z", "one")
              .Response("http://a.org/", "2012-01-01T00:00:00Z", "one")
              .Response("http://a.org/", "2012-06-01T00:00:00Z", "gone", "text/html", 404)
              .Response("http://a.org/", "2014-01-01T00:00:00Z", "two")
              .Response("http://a.org/x.png", "2012-01-01T00:00:01Z", "png", "image/png")
              .Response("http://sub.a.org/", "2012-01-01T00:00:02Z", "sub"));
    Serve();
  }
  // The timestamps of an answer with nothing else in it.
  std::string Times(const std::string& query, const std::string& path = "/cdx/search/cdx") {
    const Answer answer = Get(path + "?output=text&fl=timestamp&url=" + query);
    EXPECT_EQ(answer.status, 200) << query << answer.body;
    std::string times;
    for (const std::string_view line : Split(answer.body, '\n')) {
      if (!line.empty()) times += fmt::format("{}{}", times.empty() ? "" : " ", line.substr(0, 6));
    }
    return times;
  }
};

TEST_F(CdxServing, I7_TheInternetArchivesDialect) {
  BringSome();
  const Answer text = Get("/cdx/search/cdx?url=a.org/x.png");
  EXPECT_EQ(text.body.substr(0, text.body.rfind(' ')),
            "org,a)/x.png 20120101000001 http://a.org/x.png image/png 200 "
            "SBAKPVWN66QNNSVRQI4DDRWOW7IBV6L7")
      << text.body;
  const Answer json = Get("/cdx/search/cdx?url=a.org&output=json&fl=timestamp,statuscode&limit=2");
  EXPECT_EQ(json.body,
            "[[\"timestamp\", \"statuscode\"],\n[\"20100101000000\", \"200\"],\n"
            "[\"20120101000000\", \"200\"]]\n");
  EXPECT_EQ(Get("/cdx/search/cdx?url=b.org&output=json").body, "[]\n");
  EXPECT_EQ(Get("/cdx/search/cdx?url=b.org").body, "");
  EXPECT_EQ(Get("/cdx/search/cdx?url=a.org&showNumPages=true").body, "1\n");
  EXPECT_EQ(Get("/cdx/search/cdx?url=a.org&filter=(").status, 400);
}

TEST_F(CdxServing, I7_PywbsDialect) {
  BringSome();
  for (const std::string path : {"/cdx", "/web/cdx", "/lab/cdx"}) {
    const Answer answer = Get(path + "?url=http://a.org/x.png");
    EXPECT_TRUE(answer.body.starts_with(
        "org,a)/x.png 20120101000001 {\"url\": \"http://a.org/x.png\", \"mime\": \"image/png\", "
        "\"status\": \"200\", "))
        << answer.body;
  }
  const Answer json = Get("/cdx?url=a.org&output=json&limit=1&fl=urlkey,url,status");
  EXPECT_EQ(json.body,
            "{\"urlkey\": \"org,a)/\", \"url\": \"http://a.org/\", \"status\": "
            "\"200\"}\n");
  EXPECT_EQ(Get("/cdx?url=a.org&output=text&fl=timestamp&filter==status:404").body,
            "20120601000000\n");
  EXPECT_EQ(Get("/cdx?url=a.org&output=text&fl=timestamp&filter=!~status:2&limit=1").body,
            "20120601000000\n");
}

TEST_F(CdxServing, I7_LinesAreATimeMapWhereLinksAreAskedFor) {
  BringSome();
  const auto memento = [&](const std::string& path, const std::string& date) {
    return fmt::format(",\n<{}/web/{}>; rel=\"memento\"; datetime=\"{}\"", Origin(), path, date);
  };
  const std::string type = "; type=\"application/link-format\"";
  const std::string in_2012 =
      memento("20120101000000/http://a.org/", "Sun, 01 Jan 2012 00:00:00 GMT");
  for (const std::string path : {"/cdx", "/web/cdx", "/cdx/search/cdx"}) {
    const std::string query = path + "?url=http://a.org/&output=link&from=2012&to=2012";
    const Answer answer = Get(query);
    EXPECT_EQ(answer.Header("Content-Type"), "application/link-format");
    EXPECT_EQ(answer.body,
              fmt::format("<http://a.org/>; rel=\"original\",\n"
                          "<{0}/web/http://a.org/>; rel=\"timegate\",\n<{0}{1}>; rel=\"self\"{2}",
                          Origin(), query, type) +
                  in_2012 +
                  memento("20120601000000/http://a.org/", "Fri, 01 Jun 2012 00:00:00 GMT") + "\n");
    EXPECT_EQ(Get(path + "?url=b.org&output=link").body, "");
  }
  // Of several addresses there is no one original, and the filters hold.
  const std::string many = "/cdx?url=a.org/*&output=link&filter==mime:image/png";
  EXPECT_EQ(Get(many).body,
            fmt::format("<{}{}>; rel=\"self\"{}", Origin(), many, type) +
                memento("20120101000001/http://a.org/x.png", "Sun, 01 Jan 2012 00:00:01 GMT") +
                "\n");
  const std::string part = "/cdx?url=http://a.org/&output=link&limit=1&showResumeKey=true";
  const std::string first = Get(part).body;
  const std::size_t next = first.find("<" + Origin() + part + "&resumeKey=");
  ASSERT_NE(next, std::string::npos) << first;
  const std::size_t begin = next + 1 + Origin().size();
  const Answer second = Get(first.substr(begin, first.find('>', begin) - begin));
  EXPECT_NE(second.body.find(in_2012), std::string::npos) << second.body;
  EXPECT_NE(second.body.find("rel=\"next timemap\"" + type), std::string::npos) << second.body;
}

TEST_F(CdxServing, I7_ParametersMeanTheSameInBothDialects) {
  BringSome();
  const std::pair<std::string, std::string> kCases[] = {
      {"a.org", "201001 201201 201206 201401"},
      {"a.org&matchType=exact", "201001 201201 201206 201401"},
      {"a.org/*", "201001 201201 201206 201401 201201"},
      {"a.org/x&matchType=prefix", "201201"},
      {"a.org&matchType=host", "201001 201201 201206 201401 201201"},
      {"*.a.org", "201001 201201 201206 201401 201201 201201"},
      {"a.org&matchType=domain", "201001 201201 201206 201401 201201 201201"},
      {"a.org&from=2012&to=2012", "201201 201206"},
      {"a.org&from=20120601000000&to=20120601000000", "201206"},
      {"a.org&from=20140102", ""},
      {"a.org&limit=2", "201001 201201"},
      {"a.org&limit=2&offset=1", "201201 201206"},
      {"a.org&limit=-2", "201206 201401"},
      {"a.org&sort=reverse&limit=1", "201401"},
      {"a.org&closest=20120201", "201201 201206 201401 201001"},
      {"a.org&sort=closest&closest=20120301&limit=1", "201201"},
      {"a.org&sort=closest&closest=20120301&from=2013", "201401"},
      {"a.org&collapse=digest", "201001 201206 201401"},
      {"a.org&collapse=timestamp:4", "201001 201201 201401"},
      {"a.org&collapse=statuscode", "201001 201206 201401"},
      {"a.org&collapseTime=4", "201001 201201 201401"},
      {"*.a.org&collapse=urlkey", "201001 201201 201201"},
      {"a.org&page=0&pageSize=1", "201001 201201 201206 201401"},
      {"a.org&page=1&pageSize=1", ""},
  };
  for (const std::string path : {"/cdx/search/cdx", "/web/cdx", "/cdx"}) {
    for (const auto& [query, times] : kCases) {
      EXPECT_EQ(Times(query, path), times) << path << "?url=" << query;
    }
    // Names of either dialect, and letters.
    for (const std::string fields :
         {"timestamp,original,statuscode", "timestamp,url,status", "b,a,s"}) {
      for (const std::string name : {"fl=", "fields="}) {
        EXPECT_EQ(Get(path + "?url=a.org&output=text&limit=1&" + name + fields).body,
                  "20100101000000 http://a.org/ 200\n")
            << path << name << fields;
      }
    }
  }
  // Filters are written differently.
  EXPECT_EQ(Times("a.org&filter=statuscode:40"), "");
  EXPECT_EQ(Times("a.org&filter=statuscode:40."), "201206");
  EXPECT_EQ(Times("a.org&filter=status:40", "/cdx"), "201206");
  EXPECT_EQ(Times("a.org&filter=!status:40", "/cdx"), "201001 201201 201401");
  EXPECT_EQ(Times("a.org&filter==status:40", "/cdx"), "");
  EXPECT_EQ(Times("a.org&filter==status:404", "/cdx"), "201206");
  EXPECT_EQ(Times("a.org&filter=~status:4.4$", "/cdx"), "201206");
  EXPECT_EQ(Times("a.org&filter=!~status:[34]&filter=~timestamp:2012", "/cdx"), "201201");
}

TEST_F(CdxServing, I7_ManyLinesComeInPagesAndPacked) {
  WarcText warc(record::Compression::kNone);
  const std::int64_t begin = ParseIso("2000-01-01T00:00:00Z")->milliseconds;
  constexpr int kLines = 3002;
  for (int i = 0; i < kLines; ++i) {
    warc.Response("http://a.org/", FormatIso(Timestamp{begin + i * 1000LL}), "x");
  }
  Bring(warc);
  Serve();
  for (const std::string path : {"/cdx/search/cdx", "/cdx"}) {
    const std::string ask = path + "?url=a.org&pageSize=1";
    const bool is_pywb = path == "/cdx";
    EXPECT_EQ(Get(ask + "&showNumPages=true").body,
              is_pywb ? "{\"pages\": 2, \"pageSize\": 1, \"blocks\": 2}\n" : "2\n");
    const std::string text = ask + "&output=text";
    EXPECT_EQ(Get(text + "&page=0").body + Get(text + "&page=1").body, Get(text).body) << path;
    EXPECT_EQ(Get(text + "&page=2").body, "");
    // Where an answer ends is in the words of its form.
    const std::string part = ask + "&showResumeKey=true&limit=3000";
    const std::string json = Get(part + "&output=json").body;
    const std::string lines = Get(part + "&output=text&fl=timestamp").body;
    const std::size_t end = lines.find("\n\n");
    ASSERT_NE(end, std::string::npos) << path;
    const std::string key(TrimSpace(lines.substr(end)));
    EXPECT_TRUE(json.ends_with(is_pywb ? "\n\n" + key + "\n" : ",\n[],\n[\"" + key + "\"]]\n"))
        << path << json.substr(json.size() - 200);
    EXPECT_EQ(Get(ask + "&output=text&fl=timestamp&resumeKey=" + key).body,
              "20000101005000\n20000101005001\n");
    // Those that are sent while they are made, and those that are sent whole.
    for (const std::string limit : {"3002", "100", "1"}) {
      const std::string some = text + "&limit=" + limit;
      const Answer packed = Get(some, "Accept-Encoding: gzip\r\n");
      EXPECT_EQ(packed.Header("Content-Encoding"), limit == "1" ? "" : "gzip") << some;
      EXPECT_EQ(packed.Header("Vary"), "Accept-Encoding");
      const Answer plain = Get(some);
      EXPECT_EQ(plain.Header("Content-Encoding"), "");
      if (limit == "1") continue;
      EXPECT_LT(packed.body.size(), plain.body.size() / 4);
      EXPECT_EQ(*codec::GzipCodec().Decompress(packed.body, 10 << 20), plain.body) << some;
    }
  }
}

TEST_F(CdxServing, I7_WhatIsSaidTwiceMeansTheSame) {
  BringSome();
  EXPECT_EQ(Times("*.a.org&matchType=domain"), Times("*.a.org"));
  EXPECT_EQ(Times("a.org/*&matchType=prefix"), Times("a.org/*"));
  EXPECT_EQ(Times("a.org&sort=reverse&from=2012&to=2012"), "201206 201201");
  EXPECT_EQ(Times("a.org&closest=2020&limit=1"), "201401");
  EXPECT_EQ(Times("a.org&filter=!statuscode:404&filter=mimetype:text/.*"), "201001 201201 201401");
}

TEST_F(CdxServing, I7_AnAnswerGoesOnWhereItEnded) {
  BringSome();
  std::string seen;
  std::string resume;
  for (int i = 0; i < 10; ++i) {
    const Answer answer = Get(
        "/cdx/search/cdx?url=*.a.org&fl=timestamp&limit=2&showResumeKey=true&resumeKey=" + resume);
    const std::size_t end = answer.body.find("\n\n");
    seen += answer.body.substr(0, end == std::string::npos ? end : end + 1);
    if (end == std::string::npos) break;
    resume = std::string(TrimSpace(answer.body.substr(end)));
  }
  EXPECT_EQ(seen, Get("/cdx/search/cdx?url=*.a.org&fl=timestamp").body);
}

// Answers to requests with a body are asked for by the arguments of their key.
std::string AskedUrl(std::string_view key, const std::string& url) {
  if (key.find("__wb_method=") == std::string_view::npos) return url;
  return url.substr(0, url.find('?')) + std::string(key.substr(key.find('?')));
}

// Index files of other projects say what is in their samples; our answers are the same lines.
class CdxOfOthers : public Serving, public ::testing::WithParamInterface<const char*> {};

TEST_P(CdxOfOthers, I7_AnswersEqualTheirIndexFiles) {
  const std::string folder = "warc-samples/pywb/";
  const std::string name = GetParam();
  const std::optional<std::string> warc = ReadSample(folder + name + ".warc.gz");
  const std::optional<std::string> cdxj = ReadSample(folder + name + ".cdxj");
  if (!warc || !cdxj) GTEST_SKIP() << name << " is not here (STELE_TEST_DATA)";
  Bring(*warc, {.name = name + ".warc.gz"});
  Serve();
  std::size_t lines = 0;
  for (const std::string_view line : Split(*cdxj, '\n')) {
    if (line.empty()) continue;
    ++lines;
    const std::size_t begin = line.find("\"url\": \"") + 8;
    const std::string url(line.substr(begin, line.find('"', begin) - begin));
    const std::string key(line.substr(0, line.find(' ')));
    const Answer answer = Get("/cdx?url=" + EncodeArgument(AskedUrl(key, url)));
    EXPECT_NE(("\n" + answer.body).find(fmt::format("\n{}\n", line)), std::string::npos)
        << line << "\n"
        << answer.body;
  }
  EXPECT_GT(lines, 0u);
  // And no others: all lines of all hosts.
  std::set<std::string> hosts;
  std::size_t answered = 0;
  for (const std::string_view line : Split(*cdxj, '\n')) {
    if (line.empty()) continue;
    const std::string part(line.substr(0, line.find(')')));
    if (!hosts.insert(part).second) continue;
    std::string host;
    for (const std::string_view label : Split(part, ',')) {
      host = host.empty() ? std::string(label) : fmt::format("{}.{}", label, host);
    }
    const Answer answer = Get("/cdx?matchType=host&url=" + host);
    answered += static_cast<std::size_t>(std::count(answer.body.begin(), answer.body.end(), '\n'));
  }
  EXPECT_EQ(answered, lines);
}

INSTANTIATE_TEST_SUITE_P(Pywb, CdxOfOthers, ::testing::Values("iana", "dupes", "post-test"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The same for index files with eleven columns.
struct CdxSample {
  const char* folder;
  const char* cdx;
  const char* file;
};
class CdxLinesOfOthers : public Serving, public ::testing::WithParamInterface<CdxSample> {};

TEST_P(CdxLinesOfOthers, I7_AnswersHaveTheirLines) {
  const std::string folder = fmt::format("warc-samples/{}/", GetParam().folder);
  const std::string name = GetParam().file;
  const std::optional<std::string> warc = ReadSample(folder + name);
  const std::optional<std::string> cdx = ReadSample(folder + GetParam().cdx);
  if (!warc || !cdx) GTEST_SKIP() << name << " is not here (STELE_TEST_DATA)";
  Bring(*warc, {.name = name});
  Serve();
  std::size_t lines = 0;
  for (const std::string_view line : Split(*cdx, '\n')) {
    const std::vector<std::string_view> columns = Split(line, ' ');
    if (columns.size() != 11 || !columns[2].starts_with("http")) continue;
    ++lines;
    const std::string url = AskedUrl(columns[0], std::string(columns[2]));
    const Answer answer =
        Get("/cdx?output=text&fl=N,b,a,m,s,k,r,M,S,V,g&url=" + EncodeArgument(url));
    EXPECT_NE(("\n" + answer.body).find(fmt::format("\n{}\n", line)), std::string::npos)
        << line << "\n"
        << answer.body;
  }
  EXPECT_GT(lines, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, CdxLinesOfOthers,
    ::testing::Values(CdxSample{"pywb", "example.cdx", "example.warc.gz"},
                      CdxSample{"pywb", "example-extra.cdx", "example-extra.warc"},
                      CdxSample{"pywb", "iana.cdx", "iana.warc.gz"},
                      CdxSample{"pywb", "dupes.cdx", "dupes.warc.gz"},
                      CdxSample{"pywb", "post-test.cdx", "post-test.warc.gz"},
                      CdxSample{"outbackcdx", "test1.cdx", "test1.warc.gz"},
                      CdxSample{"outbackcdx", "test2.cdx", "test2.warc.gz"},
                      CdxSample{"warc-specifications", "hello-world.warc.cdx", "hello-world.warc"}),
    [](const auto& one) {
      std::string name = one.param.cdx;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !IsAsciiAlnum(c); }, '_');
      return name;
    });

}  // namespace
}  // namespace stele::access
