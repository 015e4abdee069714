#include "access/access_server.h"

#include <thread>

#include "access/test_access.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::Ask;
using testing::PutFile;
using testing::Serving;
using testing::WarcText;

class Access : public Serving {};

TEST_F(Access, W15_NewCapturesShowWithoutARestart) {
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "one"));
  Serve();
  EXPECT_EQ(Get("/web/http://b.org/").status, 404);
  Bring(WarcText(record::Compression::kGzip, 8)
            .Response("http://b.org/", "2014-01-01T00:00:00Z", "two"));
  // The refresh runs every few milliseconds here; a minute is for machines that are very busy.
  for (int i = 0; i < 6000 && Get("/web/http://b.org/").status == 404; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(Get("/web/20140101000000id_/http://b.org/").body, "two");
}

TEST_F(Access, I7_MonitorsAreTold) {
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "one"));
  Serve();
  EXPECT_EQ(Get("/health").body, "{\"status\": \"ok\"}\n");
  EXPECT_EQ(Get("/nothing").status, 404);
  const std::string metrics = Get("/metrics").body;
  EXPECT_NE(metrics.find("stele_http_requests_total{server=\"pages\",status=\"404\"} 1\n"),
            std::string::npos)
      << metrics;
  EXPECT_NE(metrics.find("stele_captures{archive=\"lab\"} 1\n"), std::string::npos) << metrics;
  EXPECT_NE(log_.text().find("\"target\": \"/nothing\", \"status\": 404"), std::string::npos)
      << log_.text();
}

TEST_F(Access, I8_PlainPagesNeedNoFiles) {
  Bring(WarcText()
            .Response("http://a.org/<b>", "2014-01-01T00:00:00Z", "one")
            .Response("http://a.org/c", "2014-01-01T00:00:00Z", "two")
            .Response("http://www2.a.org/d", "2014-01-01T00:00:00Z", "three")
            .Response("http://aa.org/e", "2014-01-01T00:00:00Z", "four"));
  Serve();
  const Answer home = Get("/");
  EXPECT_EQ(home.status, 200);
  EXPECT_NE(home.body.find("<form action=\"/find\">"), std::string::npos);
  EXPECT_EQ(Get("/find?url=a.org/c").Header("Location"), "/web/*/http://a.org/c");
  EXPECT_NE(Get("/web/*/http://a.org/c").body.find("/web/20140101000000/http://a.org/c"),
            std::string::npos);
  const Answer list = Get("/web/*/http://a.org/*");
  EXPECT_NE(list.body.find("/web/*/http://a.org/c"), std::string::npos);
  EXPECT_EQ(list.body.find("<b>"), std::string::npos);
  EXPECT_EQ(Get("/web/2013*/http://a.org/c").status, 404);
  const std::string hosts = Get("/web/*/*.a.org").body;
  EXPECT_NE(hosts.find("/web/*/http://a.org/c"), std::string::npos) << hosts;
  EXPECT_NE(hosts.find("/web/*/http://www2.a.org/d"), std::string::npos) << hosts;
  EXPECT_EQ(hosts.find("aa.org"), std::string::npos) << hosts;
  EXPECT_EQ(Get("/web/2013*/*.a.org").status, 404);
}

TEST_F(Access, I8_FilesOfThePagesAreServed) {
  ASSERT_TRUE(fs_.MakeDirectory("w"));
  ASSERT_TRUE(fs_.MakeDirectory("w/assets"));
  ASSERT_TRUE(fs_.MakeDirectory("w/replay"));
  PutFile(fs_, "w/index.html", "<title>pages</title>");
  PutFile(fs_, "w/assets/a-1.js", "script");
  PutFile(fs_, "w/replay/sw.js", "worker");
  PutFile(fs_, "w/replay/shell.html", "<html data-app=\"__APP_ORIGIN__\">");
  PutFile(fs_, "secret", "secret");
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "one"));
  AccessServerOptions options;
  options.web_directory = "w";
  Serve(options);
  for (const std::string page : {"/", "/lab/", "/view/2014/http://a.org/x.css", "/runs/3"}) {
    EXPECT_EQ(Get(page, "Accept: text/html,*/*\r\n").body, "<title>pages</title>") << page;
  }
  EXPECT_EQ(Get("/view/2014/http://a.org/x.css").status, 404);
  const Answer script = Get("/assets/a-1.js");
  EXPECT_EQ(script.body, "script");
  EXPECT_NE(script.Header("Cache-Control").find("immutable"), std::string::npos);
  EXPECT_EQ(Get("/assets/a-1.js", "If-None-Match: " + script.Header("ETag") + "\r\n").status, 304);
  EXPECT_EQ(Get("/replay/sw.js").status, 404);
  const Answer worker = GetReplay("/sw.js");
  EXPECT_EQ(worker.body, "worker");
  EXPECT_EQ(worker.Header("Content-Security-Policy"), "default-src 'none'; connect-src 'self'");
  EXPECT_EQ(GetReplay("/shell").body, "<html data-app=\"" + Origin() + "\">");
  EXPECT_EQ(GetReplay("/shell?archive=lab").status, 200);
  EXPECT_EQ(GetReplay("/index.html").status, 404);
  for (const std::string path : {"/../secret", "/%2e%2e/secret", "/assets/../../secret",
                                 "/assets/..%2f..%2fsecret", "//secret", "/w/index.html"}) {
    EXPECT_EQ(Get(path).body.find("secret\n"), std::string::npos);
    EXPECT_EQ(Get(path).status, 404) << path;
    EXPECT_EQ(GetReplay(path).status, 404) << path;
  }
  // With pages, people go there and programs do not.
  const std::string memento = "/web/20140101000000/http://a.org/";
  EXPECT_EQ(Get(memento, "Sec-Fetch-Dest: document\r\n").Header("Location"),
            "/view/20140101000000/http://a.org/");
  EXPECT_EQ(Get(memento).status, 200);
  EXPECT_EQ(Get("/web/*/http://a.org/").Header("Location"), "/calendar/http://a.org/");
  EXPECT_EQ(Get("/web/201405*/http://a.org/").Header("Location"), "/calendar/http://a.org/#2014");
  EXPECT_EQ(Get("/web/*/http://a.org/x*").Header("Location"), "/browse/http://a.org/x");
  EXPECT_EQ(Get("/web/*/*.a.org/*").Header("Location"), "/browse/*.a.org");
}

TEST_F(Access, W15_RecordsAndSelectionsAreDownloaded) {
  ASSERT_TRUE(fs_.MakeDirectory("/spool"));
  const WarcText warc = std::move(WarcText()
                                      .Response("http://a.org/", "2014-01-01T00:00:00Z", "one")
                                      .Response("http://b.org/", "2014-01-02T00:00:00Z", "two"));
  Bring(warc.bytes());
  Serve();
  const Answer record = Get("/record/201401/1");
  EXPECT_EQ(record.status, 200);
  EXPECT_TRUE(warc.bytes().ends_with(record.body));
  EXPECT_FALSE(record.body.empty());
  EXPECT_EQ(Get("/record/201401/2").status, 404);
  const Answer selection = Get("/export.warc.gz?host=b.org");
  EXPECT_EQ(selection.status, 200);
  // What was downloaded is an archive of its own.
  io::MemoryFileSystem other;
  archive::testing::ArchiveLab lab(other);
  ASSERT_TRUE(lab.Create());
  auto writer = std::move(*lab.Open());
  PutFile(other, "x.warc.gz", selection.body);
  ASSERT_TRUE(writer->BeginRun("import", ""));
  ASSERT_TRUE(archive::ImportFile(*writer, 1, "x.warc.gz", {}));
  EXPECT_EQ(archive::testing::Lines(writer->View()),
            std::vector<std::string>{"201401/0 http://b.org/ 20140102000000000"});
  const Answer wacz = Get("/export.wacz");
  EXPECT_EQ(wacz.status, 200);
  EXPECT_TRUE(wacz.body.starts_with("PK"));
  EXPECT_EQ(fs_.List("/spool")->size(), 0u);
  EXPECT_EQ(Get("/export.warc.gz?host=c.org").status, 404);
}

}  // namespace
}  // namespace stele::access
