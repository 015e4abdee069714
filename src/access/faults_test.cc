// What goes wrong in one place stays there: slow clients, files that are gone or damaged, hostile
// requests and archived texts.
#include <sys/resource.h>

#include <algorithm>

#include "access/capture_content.h"
#include "access/test_access.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::Ask;
using testing::PutFile;
using testing::Serving;
using testing::WarcText;

constexpr int kSlowHeads = 700;
constexpr int kSlowReaders = 300;

// Both ends of each connection are in this process.
bool LetsOpen(rlim_t files) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (limit.rlim_cur >= files) return true;
  limit.rlim_cur = std::min(files, limit.rlim_max);
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= files;
}

class Faults : public Serving {};

TEST_F(Faults, W15_AThousandSlowClientsDoNotStopAFastOne) {
  if (!LetsOpen(3000)) GTEST_SKIP() << "this machine lets nobody have 3000 open files";
  const std::string large(2 << 20, 'x');
  Bring(WarcText()
            .Response("http://a.org/", "2014-01-01T00:00:00Z", "quick")
            .Response("http://a.org/large", "2014-01-01T00:00:00Z", large, "video/mp4"));
  AccessServerOptions options;
  options.pages.workers = 2;
  options.pages.limits.output_buffer = 16 << 10;
  // They are not thrown out meanwhile.
  options.pages.limits.head_timeout = std::chrono::minutes(10);
  options.pages.limits.transfer_timeout = std::chrono::minutes(10);
  Serve(options);
  const std::string get =
      "GET /web/20140101000000id_/http://a.org/large HTTP/1.1\r\nHost: localhost\r\n";
  std::vector<std::unique_ptr<net::RawClient>> slow;
  for (int i = 0; i < kSlowHeads + kSlowReaders; ++i) {
    slow.push_back(std::make_unique<net::RawClient>(server_->pages_port(), 4096));
    ASSERT_TRUE(slow.back()->connected()) << i;
    ASSERT_TRUE(slow.back()->Send(i < kSlowHeads ? get + "X-Slow: " : get + "\r\n")) << i;
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(Get("/web/20140101000000id_/http://a.org/").body, "quick");
    ASSERT_EQ(Get("/health").status, 200);
  }
  // And they are still served.
  ASSERT_TRUE(slow.front()->Send("1\r\n\r\n"));
  EXPECT_EQ(slow.front()->ReceiveResponse().body.size(), large.size());
  EXPECT_EQ(slow.back()->ReceiveResponse().body.size(), large.size());
}

TEST_F(Faults, W15_AFileThatIsGoneOrDamagedIsNamedAndTheRestWorks) {
  ASSERT_TRUE(fs_.MakeDirectory("/spool"));
  for (const std::string host : {"gone", "damaged", "good"}) {
    Bring(WarcText(record::Compression::kGzip, host.size())
              .Response(fmt::format("http://{}.org/", host), "2014-01-01T00:00:00Z",
                        "<title>" + std::string(3000, 'x') + "</title>"));
  }
  // Where an imported file lies.
  const archive::ArchiveView view = archive_->View();
  const auto held = [&](std::uint32_t run) {
    for (const auto& [number, container] : view.holdings().containers()) {
      if (container.run == run) return *view.PathOf(number);
    }
    return std::string();
  };
  ASSERT_TRUE(fs_.Remove(held(1)));
  std::string bytes = *io::ReadFile(fs_, held(2));
  bytes[bytes.size() - 20] ^= 1;
  PutFile(fs_, held(2), bytes);
  Serve();
  for (const auto& [host, file] :
       {std::pair("gone", "1.warc.gz"), std::pair("damaged", "2.warc.gz")}) {
    const std::string capture = fmt::format("/http://{}.org/", host);
    for (const std::string modifier : {"id_", "mp_", "im_"}) {
      const Answer answer = Get("/web/20140101000000" + modifier + capture);
      EXPECT_EQ(answer.status, 502) << host << modifier;
      EXPECT_NE(answer.body.find(file), std::string::npos) << answer.body;
      EXPECT_NE(answer.body.find("stele verify"), std::string::npos) << answer.body;
    }
    const Answer worker = GetReplay("/web/20140101000000rp_" + capture);
    EXPECT_EQ(worker.status, 502);
    EXPECT_NE(worker.body.find("data-archive=\"damaged\""), std::string::npos) << worker.body;
    EXPECT_EQ(Get(fmt::format("/api/v1/coherence?url=http://{}.org/", host)).status, 502);
    // What the indexes know is still told.
    EXPECT_NE(Get(fmt::format("/cdx?url={}.org", host)).body, "");
    EXPECT_EQ(Get(fmt::format("/api/v1/capture?url=http://{}.org/", host)).status, 200);
    EXPECT_EQ(Get("/timemap/link" + capture).status, 200);
  }
  EXPECT_EQ(Get("/record/201401/0").status, 502);
  EXPECT_EQ(Get("/web/20140101000000id_/http://good.org/").status, 200);
  EXPECT_EQ(Get("/web/20140101000000mp_/http://good.org/").status, 200);
  EXPECT_EQ(Get("/export.warc.gz?host=good.org").status, 200);
}

TEST_F(Faults, W15_AVolumeThatCannotBeReachedIsNamedWithARemedy) {
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "one"));
  const archive::ArchiveView view = archive_->View();
  const Snapshot snapshot{"lab", nullptr, view, std::make_shared<const AccessRules>(), 0, nullptr};
  const catalog::HeldCapture held = *view.catalog().Get({201401, 0});
  for (const Error& error :
       {Error{ErrorCode::kBusy, "it took too long"},
        Error{ErrorCode::kIo, "x: volume main of the archive: 127.0.0.1:1: refused"}}) {
    const Error told = Unreadable(snapshot, held, error);
    EXPECT_EQ(told.code, ErrorCode::kBusy) << told.text;
    EXPECT_NE(told.text.find("in the volume main, which"), std::string::npos) << told.text;
    EXPECT_NE(told.text.find("stele store serve"), std::string::npos) << told.text;
  }
  EXPECT_EQ(Unreadable(snapshot, held, {ErrorCode::kIo, "cannot read x"}).code, ErrorCode::kIo);
}

TEST_F(Faults, W15_ArchivedTextsAreNoScripts) {
  const std::string evil = "<script>alert(1)</script>";
  Bring(WarcText()
            .Response("http://a.org/\"><script>alert(1)</script>", "2014-01-01T00:00:00Z",
                      "<title>" + evil + "</title>", "text/html")
            .Block("http://a.org/head", "2014-01-01T00:00:00Z",
                   "HTTP/1.1 200 " + evil + "\r\nContent-Type: text/html\r\nX-A: " + evil +
                       "\r\nX-Fold: a\r\n Set-Cookie: b=c\r\n\r\nbody")
            .Response("http://a.org/type", "2014-01-01T00:00:00Z", "x", "text/" + evil));
  Serve();
  // Pages of ours show them as text, and run no script in any case.
  for (const std::string target :
       {"/web/*/http://a.org/*", "/web/*/http://a.org/%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/web/*/http://a.org/type", "/",
        "/web/2014id_/http://a.org/<script>alert(1)</script>/none"}) {
    const Answer answer = Get(target);
    EXPECT_EQ(answer.body.find("<script"), std::string::npos) << target << answer.body;
    EXPECT_NE(answer.Header("Content-Security-Policy").find("default-src 'none'"),
              std::string::npos)
        << target;
  }
  // The API gives JSON, which no browser takes for a page.
  for (const std::string target :
       {"/api/v1/search?q=script", "/api/v1/captures?url=http://a.org/type",
        "/api/v1/capture?url=http://a.org/head", "/api/v1/browse?prefix=http://a.org/",
        "/api/v1/<script>"}) {
    const Answer answer = Get(target);
    EXPECT_EQ(answer.Header("Content-Type"), "application/json") << target;
    EXPECT_EQ(answer.Header("X-Content-Type-Options"), "nosniff") << target;
  }
  const Answer head = Get("/web/20140101000000id_/http://a.org/head");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("Set-Cookie"), "");
  EXPECT_NE(head.Header("X-Archive-Orig-X-Fold"), "");
}

TEST_F(Faults, W15_HostileRequestsDoNothing) {
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "one"));
  PutFile(fs_, "secret", "secret\n");
  Serve();
  // Another host name would let a site on the web read a private archive.
  EXPECT_EQ(Ask(server_->pages_port(), "/", "", "GET", "evil.example").status, 421);
  EXPECT_EQ(Ask(server_->replay_port(), "/sw.js", "", "GET", "evil.example").status, 421);
  EXPECT_EQ(Ask(server_->pages_port(), "/", "", "GET", "127.0.0.1.evil.example").status, 421);
  EXPECT_EQ(Ask(server_->pages_port(), "/", "", "GET", "127.0.0.1:1").status, 200);
  EXPECT_EQ(Ask(server_->pages_port(), "/", "", "GET", "x.localhost").status, 200);
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE"}) {
    EXPECT_EQ(Get("/", "", method).status, 405) << method;
  }
  for (const std::string target : {"/web/2014id_/http://a.org/%0d%0aX-Evil:%201",
                                   "/web/http://a.org/%0d%0aX-Evil:%201",
                                   "/timegate/http%3A%2F%2Fa.org%2F%0d%0aX-Evil:%201",
                                   "/web/*/http://x/%0d%0aX-Evil:1",
                                   "/find?url=http%3A%2F%2Fx%2F%0d%0aX-Evil:1",
                                   "/web/99999999id_/http://a.org/",
                                   "/web/20141332id_/http://a.org/",
                                   "/web/999999999999999999999id_/http://a.org/",
                                   "/web/-1id_/http://a.org/",
                                   "/record/999999999999/1",
                                   "/record/1/99999999999999999999",
                                   "/record/../../secret",
                                   "/record/201401/0/../../../secret",
                                   "/web/",
                                   "/web/2014",
                                   "/timemap/",
                                   "/timemap/link/page0/x",
                                   "/cdx",
                                   "/cdx?url=%00",
                                   "/export.warc.gz?run=x",
                                   "/export.wacz?from=yesterday",
                                   "/../secret",
                                   "/%2e%2e/secret",
                                   "/lab/../secret",
                                   "/lab/%2e%2e%2fsecret",
                                   "/web/2014id_/file:///secret",
                                   "/web/2014mp_/javascript:alert(1)",
                                   "/web/2014id_/http://[::1",
                                   "/api/v1/../../secret",
                                   "/api/v1/runs/-1",
                                   "/api/v1/runs/1/report/x",
                                   "/api/v1/batches/201401",
                                   "/api/v1/batches/99999999999999999999/captures",
                                   "/api/v1/capture?id=1/2/3",
                                   "/api/v1/captures?url=a.org&resume=zz",
                                   "/api/v1/diff?before=1/1&after=%0a"}) {
    const Answer answer = Get(target);
    EXPECT_GE(answer.status, 300) << target;
    EXPECT_LT(answer.status, 500) << target;
    EXPECT_EQ(answer.Header("X-Evil"), "") << target;
    EXPECT_EQ(answer.body.find("secret\n"), std::string::npos) << target;
  }
  for (const std::string target :
       {"/cdx?url=a.org&from=x", "/cdx/search/cdx?url=a.org&filter=original:(a*)*b$",
        "/cdx/search/cdx?url=a.org&resumeKey=x", "/cdx?url=a.org&limit=99999999999999999999",
        "/timemap/link/page99999999999999999999/http://a.org/",
        "/web/20140230000000id_/http://a.org/"}) {
    const int status = Get(target).status;
    EXPECT_TRUE(status >= 200 && status < 500) << target << status;
  }
  for (const std::string target : {"/web/*/http://x/<script>alert(1)</script>",
                                   "/<script>alert(1)</script>", "/web/x/\"><script>"}) {
    const Answer answer = Get(target);
    EXPECT_EQ(answer.body.find("<script"), std::string::npos) << answer.body;
    EXPECT_NE(answer.Header("Content-Security-Policy"), "");
  }
}

TEST_F(Faults, W15_HostileHeadersDoNothing) {
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "one"));
  Serve();
  for (const std::string headers :
       {"Range: bytes=99999999999999999999-", "Range: bytes=-0", "Accept-Datetime: yesterday",
        "Accept-Datetime: Fri, 99 Abc 9999 99:99:99 GMT", "If-None-Match: \"", "Cookie: ;;=;=x",
        "Authorization: Basic ////", "Sec-Fetch-Dest: document", "X-Forwarded-For: ,,,"}) {
    for (const std::string target :
         {"/web/20140101000000id_/http://a.org/", "/web/http://a.org/", "/"}) {
      EXPECT_LT(Get(target, headers + "\r\n").status, 500) << headers << target;
    }
  }
}

}  // namespace
}  // namespace stele::access
