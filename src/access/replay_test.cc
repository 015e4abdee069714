#include "access/replay.h"

#include "access/requested_url.h"
#include "access/test_access.h"
#include "codec/deflate_codec.h"
#include "codec/gzip_codec.h"
#include "codec/zstd_codec.h"
#include "util/test_paths.h"

namespace stele::access {
namespace {

using testing::Answer;
using testing::Ask;
using testing::PutFile;
using testing::Serving;
using testing::WarcText;

class Replaying : public Serving {};

TEST_F(Replaying, W15_TheNearestCaptureIsSentAsItWas) {
  Bring(WarcText()
            .Response("http://a.org/", "2014-01-26T20:06:24Z", "old")
            .Response("http://a.org/", "2015-01-26T20:06:24Z", "new"));
  Serve();
  EXPECT_EQ(Get("/web/20140126200624id_/http://a.org/").body, "old");
  EXPECT_EQ(Get("/web/20150126200624id_/http://a.org/").body, "new");
  for (const std::string time : {"2014", "201401", "20130101000000", "1"}) {
    EXPECT_EQ(Get("/web/" + time + "id_/http://a.org/").Header("Location"),
              "/web/20140126200624id_/http://a.org/")
        << time;
  }
  for (const std::string time : {"2016", "", "20140801000000", "2"}) {
    EXPECT_EQ(Get("/web/" + time + "id_/http://a.org/").Header("Location"),
              "/web/20150126200624id_/http://a.org/")
        << time;
  }
  EXPECT_EQ(Get("/web/2014id_/http://b.org/").status, 404);
  // Below its name, too, and links stay there.
  EXPECT_EQ(Get("/lab/web/20140126200624id_/http://a.org/").body, "old");
  EXPECT_EQ(Get("/lab/web/2014id_/a.org").Header("Location"),
            "/lab/web/20140126200624id_/http://a.org/");
}

TEST_F(Replaying, W15_CapturesOfNeighbouringMomentsAreToldApart) {
  Bring(WarcText()
            .Response("http://a.org/", "2014-01-26T20:06:23.900Z", "before")
            .Response("http://a.org/", "2014-01-26T20:06:24.500Z", "after"));
  Serve();
  EXPECT_EQ(Get("/web/20140126200623id_/http://a.org/").body, "before");
  EXPECT_EQ(Get("/web/20140126200624id_/http://a.org/").body, "after");
}

TEST_F(Replaying, D6_RevisitsHaveThePayloadOfTheirOriginal) {
  Bring(WarcText()
            .Response("http://o.org/", "2004-01-01T00:00:00Z", "same")
            .Revisit("http://r.org/", "2005-01-01T00:00:00Z", "same", "http://o.org/",
                     "2004-01-01T00:00:00Z")
            .Revisit("http://lost.org/", "2005-01-01T00:00:00Z", "lost"));
  Serve();
  const Answer answer = Get("/web/20050101000000id_/http://r.org/");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "same");
  EXPECT_EQ(answer.Header("Memento-Datetime"), "Sat, 01 Jan 2005 00:00:00 GMT");
  const Answer part = Get("/web/20050101000000id_/http://r.org/", "Range: bytes=1-2\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "am");
  EXPECT_EQ(part.Header("Content-Range"), "bytes 1-2/4");
  const Answer lost = Get("/web/20050101000000id_/http://lost.org/");
  EXPECT_EQ(lost.status, 404);
  EXPECT_NE(lost.body.find("repeats a capture"), std::string::npos);
}

TEST_F(Replaying, W15_ArchivedHeadersDoNotActOnUs) {
  Bring(WarcText().Block("http://evil.org/", "2014-01-01T00:00:00Z",
                         "HTTP/1.1 401 No\r\nContent-Type: text/html\r\nSet-Cookie: sid=1\r\n"
                         "Clear-Site-Data: \"*\"\r\nService-Worker-Allowed: /\r\n"
                         "WWW-Authenticate: Basic\r\nLocation: http://live.org/\r\n"
                         "Content-Security-Policy: default-src *\r\nX-Own: 1\r\n"
                         "X-Accel-Redirect: /secret\r\nX-Sendfile: /etc/passwd\r\n"
                         "X-Lighttpd-Send-File: /etc/passwd\r\nX-Reproxy-URL: http://inside/\r\n"
                         "X-LiteSpeed-Location: /secret\r\nCache-Control: max-age=99\r\n"
                         "Expires: Fri, 01 Jan 2100 00:00:00 GMT\r\nPragma: x\r\nAge: 1\r\n"
                         "ETag: \"theirs\"\r\nLast-Modified: Fri, 01 Jan 2010 00:00:00 GMT\r\n"
                         "Strict-Transport-Security: max-age=99\r\nAlt-Svc: h3=\":443\"\r\n"
                         "Refresh: 0; url=http://live.org/\r\nLink: <http://live.org/>\r\n"
                         "Access-Control-Allow-Origin: *\r\nReport-To: {}\r\nNEL: {}\r\n"
                         "Content-Encoding: gzip\r\nX-Frame-Options: DENY\r\n\r\nbody"));
  Serve();
  const Answer raw = Get("/web/20140101000000id_/http://evil.org/");
  EXPECT_EQ(raw.status, 401);
  EXPECT_EQ(raw.body, "body");
  EXPECT_EQ(raw.Header("Content-Security-Policy"), "sandbox; default-src 'none'");
  EXPECT_EQ(raw.Header("X-Archive-Orig-Set-Cookie"), "sid=1");
  const Answer worker = GetReplay("/web/20140101000000rp_/http://evil.org/");
  EXPECT_EQ(worker.status, 200);
  EXPECT_EQ(worker.Header("X-Redirect-Status"), "401");
  EXPECT_EQ(worker.Header("X-Own"), "1");
  EXPECT_EQ(worker.Header("X-Proxy-Set-Cookie"), "sid=1");
  EXPECT_EQ(worker.Header("Cache-Control"), "no-store");
  const Answer rewritten = Get("/web/20140101000000mp_/http://evil.org/");
  EXPECT_EQ(rewritten.status, 401);
  EXPECT_EQ(rewritten.Header("Cache-Control"), "no-cache");
  EXPECT_EQ(raw.Header("Cache-Control"), "no-cache");
  for (const Answer& answer : {raw, worker, rewritten}) {
    EXPECT_EQ(answer.Header("ETag").find("theirs"), std::string::npos);
    EXPECT_EQ(answer.Header("Link").find("live.org"), std::string::npos);
    EXPECT_NE(answer.Header("Content-Security-Policy").find("sandbox"), std::string::npos);
    for (const std::string name : {"Expires",
                                   "Pragma",
                                   "Age",
                                   "Last-Modified",
                                   "Strict-Transport-Security",
                                   "Alt-Svc",
                                   "Refresh",
                                   "Access-Control-Allow-Origin",
                                   "Report-To",
                                   "NEL",
                                   "Content-Encoding",
                                   "X-Frame-Options",
                                   "Set-Cookie",
                                   "Clear-Site-Data",
                                   "Service-Worker-Allowed",
                                   "WWW-Authenticate",
                                   "Location",
                                   "X-Accel-Redirect",
                                   "X-Sendfile",
                                   "X-Lighttpd-Send-File",
                                   "X-Reproxy-URL",
                                   "X-LiteSpeed-Location"}) {
      EXPECT_EQ(answer.Header(name), "") << name;
    }
  }
}

TEST_F(Replaying, W15_RedirectsStayInTheArchiveAndDoNotGoInCircles) {
  Bring(WarcText()
            .Block("http://a.org/", "2014-01-01T00:00:00Z",
                   "HTTP/1.1 301 Moved\r\nLocation: https://www.a.org/\r\n\r\n")
            .Response("https://www.a.org/", "2014-01-01T00:00:05Z", "page")
            .Block("http://a.org/old", "2014-01-01T00:00:00Z",
                   "HTTP/1.1 302 Found\r\nLocation: new?x=1\r\n\r\n"));
  Serve();
  EXPECT_EQ(Get("/web/20140101000000id_/http://a.org/").Header("Location"),
            "/web/20140101000005id_/https://www.a.org/");
  EXPECT_EQ(Get("/web/20140101000005id_/http://a.org/").body, "page");
  const Answer old = Get("/web/20140101000000id_/http://a.org/old");
  EXPECT_EQ(old.status, 302);
  EXPECT_EQ(old.Header("Location"), "/web/20140101000000id_/http://a.org/new?x=1");
  const Answer worker = GetReplay("/web/20140101000000rp_/http://a.org/old");
  EXPECT_EQ(worker.status, 200);
  EXPECT_EQ(worker.Header("X-Redirect-Status"), "302");
  EXPECT_EQ(worker.Header("X-Orig-Location"), "http://a.org/new?x=1");
  EXPECT_EQ(worker.Header("X-Orig-Ts"), "20140101000000");
  EXPECT_EQ(worker.Header("Location"), "");
}

// Where a site sent visitors for a cookie and back, and only the way was captured as well.
TEST_F(Replaying, W15_RedirectsOverOthersDoNotGoInCircles) {
  const auto to = [](const std::string& where) {
    return "HTTP/1.1 302 Found\r\nLocation: " + where + "\r\n\r\n";
  };
  const std::string at = "2014-01-01T00:00:00Z";
  Bring(WarcText()
            .Block("http://a.org/page", at, to("/login"))
            .Block("http://a.org/login", at, to("/check"))
            .Block("http://a.org/check", at, to("/page"))
            .Response("http://a.org/page", "2014-01-01T00:00:09Z", "page")
            .Block("http://b.org/1", at, to("/2"))
            .Block("http://b.org/2", at, to("/1"))
            .Block("http://c.org/1", at, to("/2"))
            .Block("http://c.org/2", at, to("/3"))
            .Response("http://c.org/3", at, "three")
            .Block("http://d.org/", at, to("http://b.org/1")));
  Serve();
  const auto location = [&](const std::string& url) {
    return Get("/web/20140101000000id_/" + url).Header("Location");
  };
  EXPECT_EQ(location("http://a.org/page"), "/web/20140101000009id_/http://a.org/page");
  EXPECT_EQ(location("http://a.org/login"), "/web/20140101000000id_/http://a.org/check");
  EXPECT_EQ(location("http://a.org/check"), "/web/20140101000000id_/http://a.org/page");
  EXPECT_EQ(location("http://c.org/1"), "/web/20140101000000id_/http://c.org/2");
  EXPECT_EQ(location("http://c.org/2"), "/web/20140101000000id_/http://c.org/3");
  EXPECT_EQ(location("http://d.org/"), "/web/20140101000000id_/http://b.org/1");
  for (const std::string url : {"http://b.org/1", "http://b.org/2"}) {
    const Answer raw = Get("/web/20140101000000id_/" + url);
    EXPECT_EQ(raw.status, 404) << url;
    EXPECT_NE(raw.body.find("leads in a circle"), std::string::npos) << raw.body;
    const Answer worker = GetReplay("/web/20140101000000rp_/" + url);
    EXPECT_EQ(worker.status, 404) << url;
    EXPECT_NE(worker.body.find("data-archive=\"missing\""), std::string::npos) << worker.body;
  }
}

TEST_F(Replaying, W15_ContentCodingsAreUndoneForWhoDoesNotTakeThem) {
  const std::string page(5000, 'x');
  const std::string packed = *codec::GzipCodec().Compress(page, 6);
  Bring(WarcText()
            .Block("http://a.org/", "2014-01-01T00:00:00Z",
                   "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" +
                       packed)
            .Block("http://a.org/bad", "2014-01-01T00:00:00Z",
                   "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "5\r\nplain\r\n0\r\n\r\n"));
  Serve();
  const Answer plain = Get("/web/20140101000000id_/http://a.org/");
  EXPECT_EQ(plain.body, page);
  EXPECT_EQ(plain.Header("Content-Encoding"), "");
  const Answer coded = Get("/web/20140101000000id_/http://a.org/", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(coded.body, packed);
  EXPECT_EQ(coded.Header("Content-Encoding"), "gzip");
  EXPECT_EQ(GetReplay("/web/20140101000000rp_/http://a.org/", "Accept-Encoding: gzip\r\n").body,
            page);
  EXPECT_EQ(GetReplay("/web/20140101000000rp_/http://a.org/bad").body, "plain");
}

TEST_F(Replaying, W15_EveryCodingIsUndoneAndSliced) {
  const std::string page = "Hello, hello, hello, hello, hello, hello, hello, hello!";
  // Of another program's making, since we only read this one.
  const std::string brotli(
      "\x1b\x36\x00\xf8\x8d\xd4\x4e\xf9\xc3\x8c\xaa\x91\xd0\xd8"
      "\xde\x34\x48\x08\x4b\x99\x52\xc4\x9f\x48\x20\xe4\x3a\x24",
      28);
  const std::pair<std::string, std::string> codings[] = {
      {"gzip", *codec::GzipCodec().Compress(page, 6)},
      {"deflate", *codec::DeflateCodec().Compress(page, 6)},
      {"zstd", *codec::ZstdCodec().Compress(page, 3)},
      {"br", brotli},
      {"gzip, gzip", *codec::GzipCodec().Compress(*codec::GzipCodec().Compress(page, 6), 6)},
      {"unheard-of", page},
  };
  WarcText warc;
  for (const auto& [name, body] : codings) {
    warc.Block("http://a.org/" + EncodeArgument(name), "2014-01-01T00:00:00Z",
               "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nContent-Encoding: " + name +
                   "\r\n\r\n" + body);
  }
  Bring(warc);
  Serve();
  for (const auto& [name, body] : codings) {
    const std::string target = "/web/20140101000000rp_/http://a.org/" + EncodeArgument(name);
    EXPECT_EQ(GetReplay(target).body, page) << name;
    const Answer part = GetReplay(target, "Range: bytes=7-11\r\n");
    EXPECT_EQ(part.status, 206) << name;
    EXPECT_EQ(part.body, "hello") << name;
    EXPECT_EQ(part.Header("Content-Range"), fmt::format("bytes 7-11/{}", page.size())) << name;
    EXPECT_EQ(GetReplay(target, "Range: bytes=-1\r\n").body, "!") << name;
    EXPECT_EQ(GetReplay(target, "Range: bytes=55-\r\n").status, 416) << name;
  }
}

TEST_F(Replaying, W15_WhatWasCutOffOrSentWrongIsShownAsFarAsItGoes) {
  std::string page;
  for (int i = 0; i < 5000; ++i) page += fmt::format("line {}\n", i * 7919);
  const std::string packed = *codec::GzipCodec().Compress(page, 6);
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
  Bring(WarcText()
            .Block("http://a.org/gzip", "2014-01-01T00:00:00Z",
                   head + "Content-Encoding: gzip\r\n\r\n" + packed.substr(0, packed.size() / 2))
            .Block("http://a.org/short", "2014-01-01T00:00:00Z",
                   head + "Content-Length: 100\r\n\r\nonly this")
            .Block("http://a.org/chunks", "2014-01-01T00:00:00Z",
                   head + "Transfer-Encoding: chunked\r\n\r\n4\r\ngood\r\nzz\r\nbad")
            .Block("http://a.org/cut", "2014-01-01T00:00:00Z",
                   head + "Transfer-Encoding: chunked\r\n\r\nff\r\nsome")
            .Block("http://a.org/nohead", "2014-01-01T00:00:00Z", "no HTTP at all")
            .Block("http://a.org/empty", "2014-01-01T00:00:00Z", ""));
  Serve();
  const auto body = [&](const std::string& name) {
    const Answer answer = GetReplay("/web/20140101000000rp_/http://a.org/" + name);
    EXPECT_EQ(answer.status, 200) << name;
    return answer.body;
  };
  const std::string some = body("gzip");
  EXPECT_GT(some.size(), page.size() / 4);
  EXPECT_TRUE(page.starts_with(some));
  EXPECT_EQ(body("short"), "only this");
  EXPECT_TRUE(body("chunks").starts_with("good"));
  EXPECT_EQ(body("cut"), "some");
  EXPECT_EQ(body("nohead"), "no HTTP at all");
  EXPECT_EQ(body("empty"), "");
}

TEST_F(Replaying, W15_TheWorkerIsToldTheCharacterSetOfPagesThatDoNotNameIt) {
  std::string large;
  for (std::uint64_t i = 0; large.size() < (9 << 20); ++i) {
    large += fmt::format("line {}\n", i * 7919);
  }
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
  Bring(
      WarcText()
          .Response("http://a.org/none", "2001-01-01T00:00:00Z",
                    "<p>Gr\xFC\xDF"
                    "e aus K\xF6ln")
          .Response("http://a.org/utf8", "2001-01-01T00:00:00Z",
                    "<p>Gr\xC3\xBC\xC3\x9F"
                    "e")
          .Response("http://a.org/meta", "2001-01-01T00:00:00Z", "<meta charset=koi8-r><p>\xF0")
          .Response("http://a.org/head", "2001-01-01T00:00:00Z", "<p>\xF0",
                    "text/html; charset=koi8-r")
          .Response("http://a.org/large", "2001-01-01T00:00:00Z", large)
          .Block("http://a.org/packed", "2001-01-01T00:00:00Z",
                 head + "Content-Encoding: gzip\r\n\r\n" + *codec::GzipCodec().Compress(large, 6)));
  Serve();
  const auto type = [&](const std::string& name) {
    return GetReplay("/web/20010101000000rp_/http://a.org/" + name).Header("Content-Type");
  };
  EXPECT_EQ(type("none"), "text/html; charset=windows-1252");
  EXPECT_EQ(AsciiLower(type("utf8")), "text/html; charset=utf-8");
  EXPECT_EQ(type("meta"), "text/html");
  EXPECT_EQ(type("head"), "text/html; charset=koi8-r");
  for (const std::string name : {"large", "packed"}) {
    const Answer answer = GetReplay("/web/20010101000000rp_/http://a.org/" + name);
    EXPECT_EQ(answer.Header("Content-Type"), "text/html");
    EXPECT_EQ(answer.body, large) << name;
  }
}

TEST_F(Replaying, W15_AnswersToRequestsWithABodyAreFoundByIt) {
  const std::string form = "Content-Type: application/x-www-form-urlencoded\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  const auto request = [](const std::string& fields) {
    return "POST /post HTTP/1.1\r\nHost: a.org\r\n" + fields.substr(0, fields.size() - 2);
  };
  Bring(WarcText()
            .Response("http://a.org/post", "2014-01-01T00:00:00Z", "<p>one")
            .Request("http://a.org/post", "2014-01-01T00:00:00Z", request(form), "q=One&n=%231")
            .Response("http://a.org/post", "2014-01-01T00:00:01Z", "<p>two")
            .Request("http://a.org/post", "2014-01-01T00:00:01Z", request(form), "q=two&n=2")
            .Response("http://a.org/post", "2014-01-01T00:00:02Z", "{}", "application/json")
            .Request("http://a.org/post", "2014-01-01T00:00:02Z", request(json),
                     "{\"query\": {\"id\": 7, \"all\": true}}"));
  Serve();
  const auto post = [&](std::uint16_t port, const std::string& modifier, const std::string& fields,
                        const std::string& body, const std::string& time = "20140101000000") {
    const std::string length = fmt::format("Content-Length: {}\r\n", body.size());
    return Ask(port, "/web/" + time + modifier + "/http://a.org/post", fields + length, "POST",
               "localhost", body);
  };
  const std::uint16_t replay = server_->replay_port();
  const std::uint16_t pages = server_->pages_port();
  EXPECT_EQ(post(replay, "rp_", form, "q=One&n=%231").body, "<p>one");
  EXPECT_EQ(post(replay, "rp_", form, "n=2&q=two").body, "<p>two");
  EXPECT_EQ(post(replay, "rp_", json, "{\"query\": {\"id\": 7, \"all\": true}}").body, "{}");
  EXPECT_EQ(post(replay, "rp_", form, "q=three").status, 404);
  EXPECT_EQ(GetReplay("/web/2014rp_/http://a.org/post").status, 404);
  // Documents get an address of their own, that needs no body.
  const Answer document = post(replay, "rp_", form + "Accept: text/html\r\n", "q=two&n=2");
  EXPECT_EQ(document.Header("X-Redirect-Status"), "303");
  const std::string address = document.Header("X-Orig-Location");
  EXPECT_EQ(address, "http://a.org/post?__wb_method=post&n=2&q=two");
  EXPECT_EQ(GetReplay("/web/20140101000001rp_/" + address, "Accept: text/html\r\n").body, "<p>two");
  // The same from the server alone.
  const Answer reduced = post(pages, "mp_", form, "q=two&n=2");
  EXPECT_EQ(reduced.status, 303);
  EXPECT_EQ(reduced.Header("Location"),
            "/web/20140101000001mp_/http://a.org/post?__wb_method=post&n=2&q=two");
  EXPECT_EQ(Get(reduced.Header("Location")).body, "<p>two");
  EXPECT_EQ(post(pages, "id_", form, "q=One&n=%231").body, "<p>one");
  EXPECT_EQ(Get("/web/" + address).Header("Location"), "/web/20140101000001/" + address);
  // Nothing else takes a body.
  EXPECT_EQ(Get("/api/v1/archive", "Content-Length: 0\r\n", "POST").status, 405);
  EXPECT_EQ(Get("/web/cdx", "Content-Length: 0\r\n", "POST").status, 405);
  EXPECT_EQ(post(replay, "rp_", form, std::string(kRequestBodyMax + 1, 'x')).status, 413);
}

TEST_F(Replaying, W15_HiddenAnswersToRequestsWithABodyStayHidden) {
  const std::string request =
      "POST /post HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n";
  WarcText warc;
  for (const std::string host : {"blocked", "excluded"}) {
    const std::string url = fmt::format("http://{}.org/post", host);
    warc.Response(url, "2014-01-01T00:00:00Z", "S3CRET")
        .Request(url, "2014-01-01T00:00:00Z", request, "q=1");
  }
  Bring(warc);
  PutFile(fs_, "a/access.aclj",
          "org,excluded)/ - {\"access\": \"exclude\"}\norg,blocked)/ - {\"access\": \"block\"}\n");
  Serve();
  for (const auto& [host, status] : {std::pair("blocked", 451), std::pair("excluded", 404)}) {
    for (const std::string modifier : {"id_", "mp_", "rp_"}) {
      const bool is_worker = modifier == "rp_";
      const std::uint16_t port = is_worker ? server_->replay_port() : server_->pages_port();
      const std::string target =
          fmt::format("/web/20140101000000{}/http://{}.org/post", modifier, host);
      const Answer answer = Ask(port, target,
                                "Content-Type: application/x-www-form-urlencoded\r\n"
                                "Content-Length: 3\r\n",
                                "POST", "localhost", "q=1");
      EXPECT_EQ(answer.status, status) << target;
      EXPECT_EQ(answer.body.find("S3CRET"), std::string::npos) << target;
      EXPECT_EQ(Ask(port, target + "?__wb_method=post&q=1").status, status) << target;
    }
  }
}

TEST_F(Replaying, W15_PostsOfASampleOfOthersAreReplayed) {
  const std::optional<std::string> warc = ReadSample("warc-samples/pywb/post-test.warc.gz");
  if (!warc) GTEST_SKIP() << "post-test.warc.gz is not here (STELE_TEST_DATA)";
  Bring(*warc);
  Serve();
  const auto post = [&](const std::string& url, const std::string& body) {
    return Ask(server_->replay_port(), "/web/2014rp_/" + url,
               fmt::format("Content-Type: application/x-www-form-urlencoded\r\n"
                           "Content-Length: {}\r\n",
                           body.size()),
               "POST", "localhost", body)
        .body;
  };
  EXPECT_NE(post("http://httpbin.org/post", "foo=bar&test=abc").find("\"test\": \"abc\""),
            std::string::npos);
  EXPECT_NE(post("http://httpbin.org/post", "A=1&B=[]&C=3").find("\"B\": \"[]\""),
            std::string::npos);
  EXPECT_NE(post("http://httpbin.org/post?foo=bar", "data=^").find("\"data\": \"^\""),
            std::string::npos);
}

TEST_F(Replaying, W15_HeadAndConditionalRequestsSendNoBody) {
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "12345"));
  Serve();
  const std::string target = "/web/20140101000000id_/http://a.org/";
  const Answer head = Get(target, "", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("Content-Length"), "5");
  EXPECT_EQ(head.body, "");
  const std::string tag = head.Header("ETag");
  for (const std::string& named : {tag, "W/" + tag, "\"x\", " + tag, std::string("*")}) {
    const Answer same = Get(target, "If-None-Match: " + named + "\r\n");
    EXPECT_EQ(same.status, 304) << named;
    EXPECT_EQ(same.body, "") << named;
  }
  EXPECT_EQ(Get(target, "If-None-Match: \"x\"\r\n").body, "12345");
  EXPECT_EQ(Get(target, "Range: bytes=1-2\r\nIf-Range: " + tag + "\r\n").body, "23");
  EXPECT_EQ(Get(target, "Range: bytes=1-2\r\nIf-Range: \"x\"\r\n").body, "12345");
  EXPECT_EQ(Get(target, "Range: bytes=9-\r\n").status, 416);
}

TEST_F(Replaying, W15_APartIsSentOnlyOfWhatTheClientHas) {
  Bring(WarcText().Response("http://a.org/f", "2014-01-01T00:00:00Z", "12345", "image/png"));
  Serve();
  const std::string part = "Range: bytes=1-2\r\n";
  const std::string tag = Get("/web/20140101000000id_/http://a.org/f").Header("ETag");
  // These have no tag that could be the same.
  for (const auto& [port, modifier] :
       {std::pair(server_->pages_port(), "im_"), std::pair(server_->replay_port(), "rp_")}) {
    const std::string target = fmt::format("/web/20140101000000{}/http://a.org/f", modifier);
    EXPECT_EQ(Ask(port, target, part).body, "23") << target;
    EXPECT_EQ(Ask(port, target, part + "If-Range: " + tag + "\r\n").body, "12345") << target;
  }
}

TEST_F(Replaying, W15_LargeCapturesAreStreamedAndSliced) {
  std::string large;
  for (int i = 0; large.size() < (3 << 20); ++i) large += fmt::format("line {}\n", i);
  Bring(WarcText().Response("http://a.org/v.mp4", "2014-01-01T00:00:00Z", large, "video/mp4"));
  Serve();
  EXPECT_EQ(Get("/web/20140101000000id_/http://a.org/v.mp4").body, large);
  const Answer part =
      GetReplay("/web/20140101000000rp_/http://a.org/v.mp4", "Range: bytes=2000000-2000099\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, large.substr(2000000, 100));
}

TEST_F(Replaying, W15_TheWorkerIsServedAndNobodyElse) {
  Bring(WarcText()
            .Response("http://a.org/", "2014-01-01T00:00:00Z", "page")
            .Response("http://a.org/sw.js", "2014-01-01T00:00:00Z", "evil", "text/javascript"));
  Serve();
  const std::string target = "/web/20140101000000rp_/http://a.org/sw.js";
  EXPECT_EQ(GetReplay(target).status, 200);
  EXPECT_EQ(GetReplay(target, "Sec-Fetch-Dest: empty\r\n").status, 200);
  EXPECT_EQ(GetReplay(target, "Service-Worker: script\r\n").status, 403);
  EXPECT_EQ(GetReplay(target, "Sec-Fetch-Dest: script\r\n").status, 403);
  EXPECT_EQ(GetReplay(target, "Sec-Fetch-Dest: document\r\n").status, 403);
  // What is for the worker is not on the pages' origin, and nothing else on the worker's.
  EXPECT_EQ(Get(target).status, 404);
  for (const std::string other : {"/web/20140101000000id_/http://a.org/", "/api/v1/archive", "/",
                                  "/cdx?url=a.org", "/metrics", "/web/http://a.org/"}) {
    EXPECT_EQ(GetReplay(other).status, 404) << other;
  }
  EXPECT_EQ(GetReplay("/r/w/main/2014mp_/http://a.org/").Header("Location"),
            Origin() + "/view/2014/http://a.org/");
  EXPECT_EQ(GetReplay("/r/w/lab/2014mp_/http://a.org/").Header("Location"),
            Origin() + "/lab/view/2014/http://a.org/");
  const Answer missing = GetReplay("/web/2014rp_/http://b.org/<script>");
  EXPECT_EQ(missing.status, 404);
  EXPECT_NE(missing.body.find("data-archive=\"missing\""), std::string::npos);
  EXPECT_EQ(missing.body.find("<script>"), std::string::npos);
}

TEST_F(Replaying, W15_DocumentsArePinnedToTheirCapture) {
  Bring(WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "page"));
  Serve();
  const Answer document = GetReplay("/web/2012rp_/http://a.org/", "Accept: text/html\r\n");
  EXPECT_EQ(document.Header("X-Redirect-Status"), "307");
  EXPECT_EQ(document.Header("X-Orig-Location"), "http://a.org/");
  EXPECT_EQ(document.Header("X-Orig-Ts"), "20140101000000");
  EXPECT_EQ(GetReplay("/web/2012rp_/http://a.org/").body, "page");
}

class WithoutRedirects : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    Bring(WarcText()
              .Response("http://a.org/", "2010-01-01T00:00:00Z", "<img src=\"/i.png\">")
              .Response("http://a.org/", "2014-01-01T00:00:00Z", "<img src=\"/j.png\">")
              .Response("http://a.org/s.js?_=1", "2014-01-01T00:00:00Z", "1", "text/javascript"));
    options_.leads_to_exact = false;
  }

  AccessServerOptions options_;
};

TEST_F(WithoutRedirects, I7_TheNearestCaptureIsSentWhereItWasAskedFor) {
  Serve(options_);
  for (const std::string time : {"2011", "20110101000000", "1999"}) {
    for (const std::string modifier : {"", "id_", "mp_", "if_"}) {
      const Answer near = Get(fmt::format("/web/{}{}/http://a.org/", time, modifier));
      ASSERT_EQ(near.status, 200) << time << modifier;
      EXPECT_EQ(near.Header("Content-Location"),
                fmt::format("/web/20100101000000{}/http://a.org/", modifier));
      EXPECT_EQ(near.Header("Memento-Datetime"), "Fri, 01 Jan 2010 00:00:00 GMT");
      EXPECT_EQ(near.Header("Location"), "");
      // What it embeds is asked for at its time, and not at that of the address.
      EXPECT_NE(near.body.find(modifier == "id_" ? "\"/i.png" : "/web/20100101000000im_/"),
                std::string::npos)
          << near.body;
      EXPECT_EQ(Get(near.Header("Content-Location")).body, near.body);
    }
  }
  const Answer exact = Get("/web/20140101000000/http://a.org/");
  EXPECT_EQ(exact.status, 200);
  EXPECT_EQ(exact.Header("Content-Location"), "");
  const Answer similar = Get("/web/20140101000000id_/http://a.org/s.js?_=2");
  EXPECT_EQ(similar.status, 200);
  EXPECT_EQ(similar.Header("Content-Location"), "/web/20140101000000id_/http://a.org/s.js?_=1");
  EXPECT_EQ(Get("/web/2011/http://b.org/").status, 404);
}

TEST_F(WithoutRedirects, I7_TimeGatesSendWhatTheyFind) {
  Serve(options_);
  for (const std::string gate : {"/web/http://a.org/", "/timegate/http://a.org/"}) {
    const Answer last = Get(gate);
    EXPECT_EQ(last.status, 200);
    EXPECT_EQ(last.Header("Content-Location"), "/web/20140101000000/http://a.org/");
    EXPECT_EQ(last.Header("Memento-Datetime"), "Wed, 01 Jan 2014 00:00:00 GMT");
    EXPECT_EQ(last.Header("Vary"), "accept-datetime");
    EXPECT_NE(last.Header("Link").find("rel=\"timegate\""), std::string::npos);
    const Answer near = Get(gate, "Accept-Datetime: Sat, 01 Jan 2011 00:00:00 GMT\r\n");
    EXPECT_EQ(near.status, 200);
    EXPECT_EQ(near.Header("Content-Location"), "/web/20100101000000/http://a.org/");
    EXPECT_EQ(near.Header("Memento-Datetime"), "Fri, 01 Jan 2010 00:00:00 GMT");
    EXPECT_EQ(near.body, Get("/web/20100101000000/http://a.org/").body);
    EXPECT_EQ(Get(gate, "Accept-Datetime: yesterday\r\n").status, 400);
  }
  EXPECT_EQ(Get("/web/http://b.org/").status, 404);
}

// Its worker pins pages by an answer of its own kind, and people see captures in our pages.
TEST_F(WithoutRedirects, I7_ReplayInTheBrowserStaysAsItIs) {
  ASSERT_TRUE(fs_.MakeDirectory("w"));
  PutFile(fs_, "w/index.html", "the pages");
  options_.web_directory = "w";
  Serve(options_);
  const Answer document = GetReplay("/web/2011rp_/http://a.org/", "Accept: text/html\r\n");
  EXPECT_EQ(document.Header("X-Redirect-Status"), "307");
  EXPECT_EQ(document.Header("X-Orig-Ts"), "20100101000000");
  const std::string browser = "Sec-Fetch-Dest: document\r\n";
  EXPECT_EQ(Get("/web/2011/http://a.org/", browser).Header("Location"), "/view/2011/http://a.org/");
  EXPECT_EQ(Get("/web/http://a.org/", browser).Header("Location"),
            "/web/20140101000000/http://a.org/");
}

TEST_F(Replaying, W15_DamageIsSaid) {
  const std::string body(400'000, 'b');
  WarcText small;
  small.Response("http://a.org/", "2014-01-01T00:00:00Z", "page");
  Bring(small);
  Bring(WarcText(record::Compression::kNone, 9)
            .Response("http://b.org/", "2014-01-01T00:00:00Z", body)
            .Response("http://c.org/", "2014-01-01T00:00:00Z", "there"));
  const archive::ArchiveView view = archive_->View();
  const std::string gone = *view.PathOf(1);
  const std::string changed = *view.PathOf(2);
  ASSERT_TRUE(fs_.Remove(gone));
  std::string bytes = *io::ReadFile(fs_, changed);
  bytes[bytes.find("bbbbb") + 100'000] = 'X';
  PutFile(fs_, changed, bytes);
  Serve();
  const Answer missing = Get("/web/20140101000000id_/http://a.org/");
  EXPECT_EQ(missing.status, 502);
  EXPECT_NE(missing.body.find("1.warc.gz, which holds it, is missing"), std::string::npos);
  EXPECT_EQ(missing.body.find(gone), std::string::npos);
  EXPECT_EQ(GetReplay("/web/20140101000000rp_/http://a.org/").status, 502);
  // What is too large to be compared before ends in a cut connection.
  EXPECT_EQ(Get("/web/20140101000000id_/http://b.org/").status, 0);
  EXPECT_EQ(Get("/web/20140101000000id_/http://c.org/").body, "there");
}

}  // namespace
}  // namespace stele::access
