// What rules hide is hidden on every route. The routes come from the tables that the server itself
// is made from, and from the page of the API: one that has no request here fails the test.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "access/api.h"
#include "access/pages_service.h"
#include "access/test_access.h"
#include "codec/gzip_codec.h"
#include "util/digest.h"
#include "util/test_paths.h"

namespace stele::access {
namespace {

using nlohmann::json;
using testing::Answer;
using testing::PutFile;
using testing::Serving;
using testing::WarcText;

constexpr std::string_view kApi = "api/v1/";

// The paths that docs/access-api.yaml has, without "/api/v1/".
std::set<std::string> DocumentedPaths() {
  std::ifstream file(SourcePath("docs/access-api.yaml"));
  std::set<std::string> paths;
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kBegin = "  /api/v1/";
    if (line.starts_with(kBegin)) {
      paths.insert(line.substr(kBegin.size(), line.size() - kBegin.size() - 1));
    }
  }
  return paths;
}

std::string DocumentText() {
  std::ifstream file(SourcePath("docs/access-api.yaml"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t CountOf(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// With all that is compressed in it.
std::string Unpacked(const std::string& body) {
  std::string all = body;
  const auto decoder = codec::GzipCodec().NewDecoder();
  std::string piece(64 << 10, '\0');
  for (std::size_t at = body.find("\x1F\x8B\x08"); at != std::string::npos;
       at = body.find("\x1F\x8B\x08", at + 1)) {
    decoder->Reset();
    std::string_view in = std::string_view(body).substr(at);
    for (;;) {
      const Result<codec::Progress> step = decoder->Decode(in, piece);
      if (!step || (step->produced == 0 && step->consumed == 0)) break;
      all.append(piece, 0, step->produced);
      in.remove_prefix(step->consumed);
      if (step->done) break;
    }
  }
  return all;
}

// A capture that nobody may see.
struct Hidden {
  std::string host;
  std::string time;  // 14 digits
  std::string body;

  std::string url() const { return "http://" + host + "/hidden-path"; }
  std::string iso() const { return FormatIso(*ParseDigits(time)); }
  std::string digest() const { return DigestOf(DigestAlgorithm::kSha1, body).Text(); }
};

class EveryRoute : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    ASSERT_TRUE(fs_.MakeDirectory("/spool"));
    const Timestamp lately{clock_.Now().milliseconds - 10LL * 24 * 3600 * 1000};
    hidden_ = {{"blocked.org", "20130303030303", "<title>S3CRET one</title>"},
               {"excluded.org", "20130404040404", "<title>S3CRET two</title>"},
               {"embargoed.org", FormatDigits14(lately), "<title>S3CRET three</title>"},
               {"dated.org", "20130505050505", "<title>S3CRET four</title>"}};
    const std::string open = "<title>Open</title><p>open</p><img src=http://blocked.org/pic.png>";
    WarcText first;
    first.Response("http://open.org/", "2014-01-01T00:00:00Z", open)
        .Response("http://embargoed.org/hidden-path", "2012-01-01T00:00:00Z", open)
        .Response("http://dated.org/hidden-path", "2012-01-01T00:00:00Z", open);
    for (const Hidden& one : hidden_) {
      first.Response(one.url(), one.iso(), one.body, "text/x-secret");
    }
    // It says what the excluded one says.
    first.Revisit("http://open.org/repeated", "2014-01-03T00:00:00Z", hidden_[1].body,
                  hidden_[1].url(), hidden_[1].iso());
    Bring(first);
    WarcText second(record::Compression::kGzip, 8);
    second.Response("http://blocked.org/hidden-path", "2013-03-03T03:03:04Z",
                    "<title>S3CRET</title>", "text/x-secret");
    for (const std::string folder : {"a/crawl", "a/crawl/S3CRET-job"}) {
      ASSERT_TRUE(fs_.MakeDirectory(folder));
    }
    Bring(second, {.kind = "crawl", .note = "S3CRET-job: http://blocked.org/hidden-path"});
    Bring(WarcText(record::Compression::kGzip, 9)
              .Response("http://open.org/", "2014-02-01T00:00:00Z", open + "<p>more</p>"));
    PutFile(fs_, "a/access.aclj",
            "org,blocked)/ - {\"access\": \"block\"}\n"
            "org,excluded)/ - {\"access\": \"exclude\"}\n"
            "org,embargoed)/ - {\"access\": \"block\", \"newer\": {\"years\": 1}}\n"
            "org,dated)/ - {\"access\": \"exclude\", \"after\": \"20130101\"}\n");
    Serve();
    WaitForSums();
  }

  json Json(const std::string& what) {
    return json::parse(Get("/api/v1/" + what).body, nullptr, false);
  }

  // Nothing of a hidden capture is in the answer, but what the question said itself.
  void ExpectNothing(const std::string& target, const Answer& answer) {
    const std::string text = Unpacked(answer.head + answer.body);
    EXPECT_NE(answer.status, 500) << target;
    const auto expect_no = [&](const std::string& mark) {
      if (target.find(mark) != std::string::npos) return;
      EXPECT_EQ(text.find(mark), std::string::npos) << target << " tells " << mark << "\n" << text;
    };
    for (const std::string mark : {"S3CRET", "x-secret", "20130303030304"}) expect_no(mark);
    for (const Hidden& one : hidden_) {
      expect_no(one.time);
      expect_no(one.iso().substr(0, 16));
      expect_no(FormatHttpDate(*ParseDigits(one.time)));
    }
    // The revisit that is shown has the digest of what it repeats.
    for (const std::size_t i : {0, 2, 3}) expect_no(hidden_[i].digest());
    if (target.find("hidden-path") != std::string::npos) return;
    for (const std::string host : {"blocked.org/hidden", "excluded.org/hidden"}) expect_no(host);
  }

  // The requests for a path of the API.
  std::vector<std::string> ApiRequests(const std::string& path) const {
    static const std::map<std::string, std::vector<std::string>> kArguments = {
        {"", {""}},
        {"openapi.yaml", {""}},
        {"archives", {""}},
        {"archive", {""}},
        {"sites", {"", "?q=blocked", "?q=excluded", "?sort=name", "?sort=last"}},
        {"captures", {"?url=URL", "?url=URL&from=2013", "?url=http://open.org/"}},
        {"capture", {"?url=URL", "?url=URL&at=TIME", "?id=ID", "?url=http://open.org/repeated"}},
        {"timeline", {"?url=URL", "?url=URL&by=day", "?url=http://open.org/"}},
        {"search", {"?q=S3CRET", "?q=hidden-path", "?q=open", "?q=org"}},
        {"browse",
         {"", "?prefix=http://HOST/", "?prefix=http://HOST/hid", "?prefix=*.HOST",
          "?prefix=http://open.org/"}},
        {"runs", {""}},
        {"runs/{run}", {"/1", "/2", "/3"}},
        {"runs/{run}/report", {"/1/report", "/2/report", "/3/report"}},
        {"changes",
         {"", "?from_run=1&to_run=2&state=new,gone,text,same-text,identical",
          "?from_run=2&to_run=3&state=new,gone",
          "?from=2012&to=2100&state=new,gone,text,identical"}},
        {"diff",
         {"?url=URL", "?url=URL&before=2012&after=TIME", "?before=ID&after=ID",
          "?url=http://open.org/"}},
        {"statistics", {""}},
        {"batches", {""}},
        {"batches/{batch}/captures", {"/201303/captures", "/201304/captures", "/201401/captures"}},
        {"coherence", {"?url=URL", "?url=URL&at=TIME", "?url=http://open.org/"}},
        {"jobs", {""}},
        {"jobs/events", {""}},
    };
    const auto found = kArguments.find(path);
    if (found == kArguments.end()) return {};
    std::vector<std::string> requests;
    const std::string begin = path.substr(0, path.find("/{"));
    for (const std::string& one : found->second) requests.push_back("/api/v1/" + begin + one);
    return requests;
  }

  // Those for other routes.
  static std::vector<std::string> Requests(const std::string& route) {
    static const std::map<std::string, std::vector<std::string>> kRequests = {
        {"api/v1", {""}},
        {"metrics", {""}},
        {"login", {""}},
        {"record/", {"ID"}},
        {"export.warc.gz", {"", "?url=URL", "?host=HOST", "?domain=org", "?run=2", "?from=2013"}},
        {"export.wacz", {"", "?url=URL", "?prefix=http://HOST/"}},
        {"cdx",
         {"?url=URL", "?url=URL&output=json", "?url=URL&sort=reverse", "?url=URL&closest=TIME",
          "?url=*.org", "?url=HOST&matchType=host", "?url=org&matchType=domain&output=json",
          "?url=HOST/&matchType=prefix", "?url=URL&output=link"}},
        {"web/cdx", {"?url=URL", "?url=org&matchType=domain"}},
        {"cdx/search/cdx",
         {"?url=URL", "?url=URL&output=json", "?url=URL&limit=-5", "?url=*.org&showNumPages=true",
          "?url=*.org&fl=urlkey,timestamp,original,mimetype,statuscode,digest,length",
          "?url=*.org&showResumeKey=true&limit=1", "?url=*.org&collapse=urlkey",
          "?url=*.org&page=0", "?url=HOST&matchType=host", "?url=URL&closest=TIME"}},
        {"timemap/", {"URL", "link/URL", "json/URL", "cdxj/URL", "link/page2/URL"}},
        {"web/timemap/", {"link/URL", "json/URL", "cdxj/URL"}},
        {"timegate/", {"URL"}},
        {"web/",
         {"URL",
          "*/URL",
          "2013*/URL",
          "2010-2030/URL",
          "*/http://HOST/*",
          "*/*.org/*",
          "*/*.HOST",
          "TIME/URL",
          "TIMEid_/URL",
          "TIMEmp_/URL",
          "TIMEif_/URL",
          "TIMEfr_/URL",
          "TIMEjs_/URL",
          "TIMEcs_/URL",
          "TIMEim_/URL",
          "TIMEoe_/URL",
          "TIMEsw_/URL",
          "TIMEwkr_/URL",
          "TIMEbn_/URL",
          "TIMEir_/URL",
          "TIMErp_/URL",
          "TIMEzz_/URL",
          "TIMEid_/http://open.org/repeated",
          "TIMEmp_/http://open.org/repeated",
          "2014mp_/http://open.org/"}},
        {"find", {"?url=URL"}},
    };
    const auto found = kRequests.find(route);
    if (found == kRequests.end()) return {};
    std::vector<std::string> requests;
    for (const std::string& one : found->second) requests.push_back("/" + route + one);
    return requests;
  }

  static std::string Put(std::string target, std::string_view what, const std::string& value) {
    for (std::size_t at = target.find(what); at != std::string::npos;
         at = target.find(what, at + value.size())) {
      target.replace(at, what.size(), value);
    }
    return target;
  }

  // The begin of an answer that goes on: up to the end of its first event.
  Answer GetEvent(const std::string& target, const std::string& headers = "") {
    net::RawClient client(server_->pages_port());
    EXPECT_TRUE(
        client.Send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", target, headers)));
    while (client.received().find("\n\n") == std::string::npos && client.Receive()) continue;
    EXPECT_NE(client.received().find("event: jobs\ndata: {"), std::string::npos)
        << client.received();
    return {200, "", client.received()};
  }

  // One request for each hidden capture, with all that its "ID" may be.
  void Visit(const std::string& pattern) {
    const std::string_view kNames[] = {"URL", "HOST", "TIME", "ID"};
    const bool is_one = std::none_of(std::begin(kNames), std::end(kNames), [&](auto name) {
      return pattern.find(name) != std::string::npos;
    });
    for (const Hidden& one : hidden_) {
      std::string target = Put(Put(pattern, "URL", one.url()), "HOST", one.host);
      target = Put(target, "TIME", one.time);
      const std::string batch = one.time.substr(0, 6);
      for (const int serial : {0, 1}) {
        const std::string id = fmt::format("{}/{}", batch, serial);
        const std::string asked = Put(target, "ID", id);
        const bool goes_on = asked.ends_with("/events");
        const std::string html = "Accept: text/html\r\n";
        ExpectNothing(asked, goes_on ? GetEvent(asked) : Get(asked));
        ExpectNothing(asked, goes_on ? GetEvent("/lab" + asked, html) : Get("/lab" + asked, html));
        ExpectNothing(asked, Get(asked, "", "HEAD"));
        ExpectNothing(asked, GetReplay(asked));
        if (asked == target) break;
      }
      if (is_one) break;
    }
  }

  std::vector<Hidden> hidden_;
};

TEST_F(EveryRoute, W15_TellsNothingOfWhatIsHidden) {
  std::set<std::string> api;
  for (const std::string_view path : ApiRoutes()) api.emplace(path);
  EXPECT_EQ(api, DocumentedPaths());
  for (const std::string& path : api) {
    const std::vector<std::string> requests = ApiRequests(path);
    EXPECT_FALSE(requests.empty()) << path << " has no request in this test";
    for (const std::string& request : requests) Visit(request);
  }
  for (const std::string_view route : PagesService::Routes()) {
    if (route == kApi) continue;
    const std::vector<std::string> requests = Requests(std::string(route));
    EXPECT_FALSE(requests.empty()) << route << " has no request in this test";
    for (const std::string& request : requests) Visit(request);
  }
  for (const std::string page : {"/", "/health", "/lab/", "/index.html", "/shell",
                                 "/r/w/main/TIMEmp_/URL", "/r/w/lab/TIMEmp_/URL"}) {
    Visit(page);
  }
}

TEST_F(EveryRoute, W15_CountsOnlyWhatIsShown) {
  // Two of open.org, a revisit there, and the old ones of two others.
  EXPECT_EQ(Json("archive")["captures"], 5);
  EXPECT_EQ(Json("archive")["hosts"], 3);
  EXPECT_EQ(Json("archive")["runs"], 2);
  EXPECT_EQ(Json("archive")["last_run"]["run"], 3);
  EXPECT_EQ(Json("archive")["last"], "2014-02-01T00:00:00.000Z");
  EXPECT_EQ(Json("sites")["total"], 3);
  EXPECT_EQ(Json("statistics")["captures"], 5);
  EXPECT_EQ(Json("statistics")["types"].size(), 1u);
  EXPECT_EQ(Json("runs")["runs"].size(), 2u);
  EXPECT_EQ(Json("runs/1")["captures"], 4);
  EXPECT_EQ(Get("/api/v1/runs/2").status, 404);
  EXPECT_EQ(Get("/api/v1/runs/2/report").status, 404);
  const json report = Json("runs/1/report");
  EXPECT_EQ(report["all"]["captures"], 4);
  EXPECT_EQ(report["by_type"].size(), 1u);
  EXPECT_EQ(report["host_count"], 3);
  EXPECT_EQ(report["containers"], 0);
  // What it repeats is not here for this client.
  EXPECT_EQ(report["unresolved"]["captures"], 1);
  const json batches = Json("batches")["batches"];
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0]["batch"], 201201);
  EXPECT_EQ(batches[0]["captures"], 2);
  EXPECT_EQ(Json("search?q=S3CRET")["total"], 0);
  EXPECT_EQ(Json("search?q=hidden-path")["total"], 2);
  EXPECT_EQ(Json("changes?from_run=1&to_run=3")["counts"]["text"], 1);
  EXPECT_EQ(Json("changes?from=2012&to=2013-12-31")["counts"]["new"], 0);
  EXPECT_EQ(Json("capture?url=http://embargoed.org/hidden-path")["count"], 1);
}

TEST_F(EveryRoute, W15_SaysWhyWhereItMay) {
  for (const auto& [host, status] :
       {std::pair("blocked.org", 451), std::pair("excluded.org", 404)}) {
    const std::string url = fmt::format("http://{}/hidden-path", host);
    for (const std::string route : {"/web/2013id_/", "/web/2013mp_/", "/web/", "/timegate/"}) {
      EXPECT_EQ(Get(route + url).status, status) << route << url;
    }
    EXPECT_EQ(GetReplay("/web/2013rp_/" + url).status, status) << url;
    EXPECT_EQ(Get("/api/v1/capture?url=" + url).status, status) << url;
  }
}

class ApiPage : public Serving {};

TEST_F(ApiPage, I7_TheDocumentIsServed) {
  Serve();
  for (const std::string prefix : {"", "/lab"}) {
    const Answer document = Get(prefix + "/api/v1/openapi.yaml");
    EXPECT_EQ(document.status, 200);
    EXPECT_EQ(document.Header("Content-Type"), "application/yaml");
    EXPECT_EQ(document.body, DocumentText());
  }
}

TEST_F(ApiPage, I7_PeopleReadAllRoutesWithTheirParameters) {
  Serve();
  EXPECT_EQ(Get("/api/v1").Header("Location"), "/api/v1/");
  EXPECT_EQ(Get("/lab/api/v1").Header("Location"), "/lab/api/v1/");
  const Answer page = Get("/lab/api/v1/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.Header("Content-Type"), "text/html; charset=utf-8");
  for (const std::string_view route : ApiRoutes()) {
    const std::string path = fmt::format("/api/v1/{}<", route);
    EXPECT_NE(page.body.find(path), std::string::npos) << path;
  }
  EXPECT_EQ(CountOf(page.body, "<h2>"), ApiRoutes().size());
  const std::string text = DocumentText();
  const std::string paths = text.substr(0, text.find("\ncomponents:"));
  EXPECT_EQ(CountOf(page.body, "<tr><th>"), CountOf(paths, "{name: "));
  for (const std::string_view line : Split(paths, '\n')) {
    constexpr std::string_view kSummary = "      summary: ";
    if (!line.starts_with(kSummary)) continue;
    const std::string summary = EscapeHtml(line.substr(kSummary.size()));
    EXPECT_NE(page.body.find("<p>" + summary + ".</p>"), std::string::npos) << summary;
  }
  EXPECT_NE(page.body.find("<tr><th>sort</th><td>pages, name, last; default pages</td><td></td>"),
            std::string::npos)
      << page.body;
  EXPECT_NE(page.body.find("<tr><th>url</th><td>string</td><td>required; An address; without "
                           "scheme, http:// is taken</td></tr>"),
            std::string::npos)
      << page.body;
  // Whatever leads somewhere leads to this archive.
  EXPECT_GT(CountOf(page.body, "href=\"/lab/api/v1/"), 5u);
  EXPECT_EQ(CountOf(page.body, "href="), CountOf(page.body, "href=\"/lab/api/v1/"));
  EXPECT_EQ(CountOf(page.body, "src="), 0u);
}

class ReadingRoom : public Serving {};

// Some programs compress a file as a whole.
TEST_F(ReadingRoom, W15_RecordsThatShareTheirBytesWithOthersAreNotGivenRaw) {
  const std::string both = WarcText(record::Compression::kNone)
                               .Response("http://open.org/", "2014-01-01T00:00:00Z", "open")
                               .Response("http://room.org/", "2014-01-01T00:00:00Z", "in the room")
                               .bytes();
  Bring(*codec::GzipCodec().Compress(both, 6));
  Bring(WarcText().Response("http://alone.org/", "2014-01-01T00:00:00Z", "alone"));
  PutFile(fs_, "a/access.aclj", "org,room)/ - {\"access\": \"exclude\"}\n");
  Serve();
  const Answer shared = Get("/record/201401/0");
  EXPECT_EQ(shared.status, 403);
  EXPECT_EQ(Unpacked(shared.body).find("in the room"), std::string::npos);
  EXPECT_NE(Unpacked(Get("/export.warc.gz?host=open.org").body).find("open"), std::string::npos);
  EXPECT_EQ(Get("/record/201401/1").status, 404);
  EXPECT_EQ(Get("/record/201401/2").status, 200);
}

TEST_F(ReadingRoom, I7_HiddenCapturesStayHiddenWithoutRedirects) {
  Bring(WarcText()
            .Response("http://blocked.org/", "2014-01-01T00:00:00Z", "S3CRET")
            .Response("http://excluded.org/", "2014-01-01T00:00:00Z", "S3CRET")
            .Response("http://room.org/", "2014-01-01T00:00:00Z", "S3CRET")
            .Response("http://old.org/", "2012-01-01T00:00:00Z", "old")
            .Response("http://old.org/", "2014-01-01T00:00:00Z", "S3CRET"));
  PutFile(fs_, "a/access.aclj",
          "org,room)/ - {\"access\": \"allow\", \"downloads\": false}\n"
          "org,old)/ - {\"access\": \"exclude\", \"after\": \"2013\"}\n"
          "org,excluded)/ - {\"access\": \"exclude\"}\n"
          "org,blocked)/ - {\"access\": \"block\"}\n");
  AccessServerOptions options;
  options.leads_to_exact = false;
  Serve(options);
  for (const std::string route : {"/web/2013id_/", "/web/2013mp_/", "/web/", "/timegate/"}) {
    EXPECT_EQ(Get(route + "http://blocked.org/").status, 451) << route;
    EXPECT_EQ(Get(route + "http://excluded.org/").status, 404) << route;
    EXPECT_EQ(Get(route + "http://old.org/").body, "old") << route;
  }
  EXPECT_EQ(Get("/web/2013id_/http://room.org/").status, 403);
}

// Editors and mounts make files vanish for a while; nobody has said then that all may be seen.
TEST_F(ReadingRoom, W15_RulesThatAreGoneHoldUntilTheyAreThereAgain) {
  Bring(WarcText().Response("http://room.org/", "2014-01-01T00:00:00Z", "one"));
  PutFile(fs_, "a/access.aclj", "org,room)/ - {\"access\": \"exclude\"}\n");
  const auto served = ServedArchive::Open(fs_, "a", "lab", "");
  ASSERT_TRUE(served) << served.error().text;
  ASSERT_TRUE(fs_.Remove("a/access.aclj"));
  const Status gone = (*served)->Refresh();
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().text.find("access.aclj"), std::string::npos);
  EXPECT_FALSE((*served)->Now()->rules->empty());
  PutFile(fs_, "a/access.aclj", "");
  ASSERT_TRUE((*served)->Refresh());
  EXPECT_TRUE((*served)->Now()->rules->empty());
}

TEST_F(ReadingRoom, W15_ShowsWhatMayNotBeTakenAway) {
  ASSERT_TRUE(fs_.MakeDirectory("/spool"));
  Bring(WarcText()
            .Response("http://room.org/", "2014-01-01T00:00:00Z", "<p>in the room</p>")
            .Response("http://open.org/", "2014-01-01T00:00:00Z", "<p>open</p>")
            .Revisit("http://open.org/r", "2014-01-02T00:00:00Z", "<p>in the room</p>",
                     "http://room.org/", "2014-01-01T00:00:00Z"));
  PutFile(fs_, "a/access.aclj",
          "org,room)/ - {\"access\": \"block\"}\n"
          "org,room)/ - {\"access\": \"allow\", \"ip\": \"192.0.2.0/24\", \"downloads\": false}\n");
  AccessServerOptions options;
  options.gate.proxies = {*net::IpRange::FromText("127.0.0.0/8")};
  Serve(options);
  const std::string inside = "X-Forwarded-For: 192.0.2.7\r\n";
  const std::string outside = "X-Forwarded-For: 192.0.2.7, 198.51.100.1\r\n";
  const std::string page = "/web/20140101000000mp_/http://room.org/";
  const std::string raw = "/web/20140101000000id_/http://room.org/";
  EXPECT_EQ(Get(page, outside).status, 451);
  EXPECT_EQ(Get(page, inside).status, 200);
  EXPECT_EQ(GetReplay("/web/20140101000000rp_/http://room.org/", inside).status, 200);
  EXPECT_EQ(GetReplay("/web/20140101000000rp_/http://room.org/", outside).status, 451);
  for (const std::string& target :
       {raw, std::string("/web/20140102000000id_/http://open.org/r"),
        std::string("/record/201401/0"), std::string("/export.warc.gz?host=room.org"),
        std::string("/export.wacz?host=room.org"),
        std::string("/export.warc.gz?url=http://open.org/r")}) {
    const Answer answer = Get(target, inside);
    EXPECT_EQ(answer.status, 403) << target;
    EXPECT_EQ(Unpacked(answer.body).find("in the room"), std::string::npos) << target;
  }
  EXPECT_EQ(Get(raw, outside).status, 451);
  EXPECT_EQ(Get("/record/201401/0", outside).status, 404);
  const Answer all = Get("/export.warc.gz", inside);
  EXPECT_EQ(all.status, 200);
  EXPECT_NE(Unpacked(all.body).find("<p>open</p>"), std::string::npos);
  EXPECT_EQ(Unpacked(all.body).find("in the room"), std::string::npos);
  // The sums are those of whoever asks.
  const auto sites = [&](const std::string& headers) {
    WaitForSums(headers);
    return json::parse(Get("/api/v1/archive", headers).body)["hosts"].get<int>();
  };
  EXPECT_EQ(sites(outside), 1);
  EXPECT_EQ(sites(inside), 2);
  EXPECT_EQ(sites(""), 1);
}

}  // namespace
}  // namespace stele::access
