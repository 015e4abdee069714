#include "archive/container_scan.h"

#include <gtest/gtest.h>

#include "archive/page_text.h"
#include "archive/test_archive.h"
#include "codec/gzip_codec.h"

namespace stele::archive {
namespace {

using testing::PutFile;
using testing::WarcText;

struct Scanned {
  ContainerSummary summary;
  std::vector<catalog::Capture> rows;  // texts in `urls`
  std::vector<std::string> urls;
  std::vector<std::string> keys;
  std::vector<std::string> types;
  std::vector<std::uint64_t> record_ids;
  std::vector<Companion> companions;
};

Scanned Scan(const std::string& bytes) {
  io::MemoryFileSystem fs;
  PutFile(fs, "x", bytes);
  const Result<ContainerSummary> summary = WriteContainerRows(fs, "x", {}, "rows");
  EXPECT_TRUE(summary) << summary.error().text;
  catalog::PageCache cache(1 << 20);
  const auto rows = ContainerRows::Open(fs, "rows", cache);
  EXPECT_TRUE(rows) << rows.error().text;
  Scanned scanned;
  scanned.summary = (*rows)->summary();
  EXPECT_EQ(scanned.summary.records, summary->records);
  EXPECT_TRUE((*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    for (const ContainerCapture& capture : some) {
      scanned.rows.push_back(capture.row);
      scanned.urls.emplace_back(capture.row.url);
      scanned.keys.emplace_back(capture.row.key);
      scanned.types.emplace_back(capture.row.type);
      scanned.record_ids.push_back(capture.record_id);
    }
    return {};
  }));
  scanned.companions = *(*rows)->Companions();
  return scanned;
}

constexpr const char* kDate = "2004-05-30T01:02:03Z";

bool IsPage(const catalog::Capture& row) { return (row.flags & catalog::kPage) != 0; }

TEST(ContainerScan, ARowSaysWhatAnIndexNeeds) {
  const Scanned scanned = Scan(
      WarcText().Response("http://a.example/", kDate, "<p>Hello", "Text/HTML; charset=x").bytes());
  ASSERT_EQ(scanned.rows.size(), 1u);
  const catalog::Capture& row = scanned.rows[0];
  EXPECT_EQ(row.status, 200u);
  EXPECT_EQ(scanned.types[0], "Text/HTML");
  EXPECT_EQ(row.length, 8u);
  EXPECT_EQ(std::string_view(row.sha256->data(), 32),
            DigestOf(DigestAlgorithm::kSha256, "<p>Hello").bytes());
  EXPECT_EQ(std::string_view(row.sha1->data(), 20),
            DigestOf(DigestAlgorithm::kSha1, "<p>Hello").bytes());
  EXPECT_NE(row.text_digest, 0u);
  EXPECT_TRUE(IsPage(row));
  EXPECT_EQ(scanned.summary.payload_bytes, 8u);
}

// A record that comes in several pieces has its head in one that is gone at the end.
TEST(ContainerScan, LongPagesKeepTheirTypeAndText) {
  const std::string page = [] {
    std::string text = "<p>";
    for (int i = 0; i < 40000; ++i) text += fmt::format("{} ", i * 7919 % 65537);
    return text;
  }();
  for (const record::Compression compression :
       {record::Compression::kNone, record::Compression::kGzip, record::Compression::kZstd}) {
    WarcText warc(compression);
    for (int i = 0; i < 20; ++i) warc.Response(fmt::format("http://a.example/{}", i), kDate, page);
    const Scanned scanned = Scan(warc.bytes());
    EXPECT_EQ(scanned.types, std::vector<std::string>(20, "text/html"));
    for (const catalog::Capture& row : scanned.rows) {
      EXPECT_TRUE(IsPage(row));
      EXPECT_EQ(row.text_digest, TextDigestOf(page, "text/html", nullptr));
    }
  }
}

TEST(ContainerScan, TextDigestsSurviveChangesOfMarkup) {
  const Scanned scanned = Scan(WarcText()
                                   .Response("http://a.example/", kDate, "<p>Hello, World!")
                                   .Response("http://a.example/", kDate, "<div><b>hello</b> world")
                                   .Response("http://a.example/", kDate, "<p>Goodbye, World!")
                                   .Response("http://a.example/", kDate, "\x89PNG", "image/png")
                                   .bytes());
  ASSERT_EQ(scanned.rows.size(), 4u);
  EXPECT_EQ(scanned.rows[0].text_digest, scanned.rows[1].text_digest);
  EXPECT_NE(scanned.rows[0].text_digest, scanned.rows[2].text_digest);
  EXPECT_EQ(scanned.rows[3].text_digest, 0u);
}

TEST(ContainerScan, D2_WhatIsNoPageHasADigestOfItsContentWhateverItsCompression) {
  const std::string style(1000, 'a');
  const std::string other(1000, 'b');
  const auto answer = [](const std::string& body, const std::string& coding) {
    return fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Encoding: {}\r\n"
        "Content-Length: {}\r\n\r\n{}",
        coding, body.size(), body);
  };
  const auto packed = [&](const std::string& body, int level) {
    return answer(*codec::GzipCodec().Compress(body, level), "gzip");
  };
  const std::string broken = codec::GzipCodec().Compress(style, 6)->substr(0, 20);
  const Scanned scanned = Scan(WarcText()
                                   .Block("http://a.example/", kDate, packed(style, 1))
                                   .Block("http://a.example/", kDate, packed(style, 9))
                                   .Block("http://a.example/", kDate, packed(other, 9))
                                   .Block("http://a.example/", kDate, answer(style, "identity"))
                                   .Block("http://a.example/", kDate, answer(broken, "gzip"))
                                   .bytes());
  ASSERT_EQ(scanned.rows.size(), 5u);
  EXPECT_NE(scanned.rows[0].sha256, scanned.rows[1].sha256);
  EXPECT_EQ(scanned.rows[0].text_digest, scanned.rows[1].text_digest);
  EXPECT_NE(scanned.rows[0].text_digest, 0u);
  EXPECT_NE(scanned.rows[0].text_digest, scanned.rows[2].text_digest);
  EXPECT_EQ(scanned.rows[3].text_digest, 0u);
  EXPECT_EQ(scanned.rows[4].text_digest, 0u);
}

TEST(ContainerScan, PagesAreToldFromWhatBelongsToThem) {
  const std::string url = "http://a.example/";
  const Scanned scanned =
      Scan(WarcText()
               .Response(url, kDate, "seed")
               .Notes(url, kDate, "via: x\r\nhopsFromSeed: \r\n")
               .Response(url, kDate, "frame")
               .Notes(url, kDate, "hopsFromSeed: LLE\r\n")
               .Response(url, kDate, "redirected link")
               .Notes(url, kDate, "hopsFromSeed: LR\r\n")
               .Response(url, kDate, "browser's page")
               .Request(url, kDate, "GET / HTTP/1.1\r\nSec-Fetch-Dest: document")
               .Response(url, kDate, "browser's frame")
               .Request(url, kDate, "GET / HTTP/1.1\r\nSec-Fetch-Dest: iframe")
               .Response(url, kDate, "missing", "text/html", 404)
               .Response(url, kDate, "style", "text/css")
               .bytes());
  std::vector<bool> pages;
  for (const catalog::Capture& row : scanned.rows) pages.push_back(IsPage(row));
  EXPECT_EQ(pages, (std::vector<bool>{true, false, true, true, false, false, false}));
}

TEST(ContainerScan, ARequestThatIsNoGetChangesTheKeyOnEitherSide) {
  const std::string url = "http://a.example/form";
  const std::string post = "POST /form HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded";
  const Scanned scanned = Scan(WarcText()
                                   .Response(url, kDate, "after")
                                   .Request(url, kDate, post, "q=1")
                                   .Response("http://a.example/other", kDate, "between")
                                   .Request(url, kDate, post, "q=2")
                                   .Response(url, kDate, "before")
                                   .bytes());
  EXPECT_EQ(scanned.keys, (std::vector<std::string>{"example,a)/form?__wb_method=post&q=1", "",
                                                    "example,a)/form?__wb_method=post&q=2"}));
}

TEST(ContainerScan, CompanionsNameTheirCapture) {
  WarcText file;
  file.Response("http://a.example/", kDate, "x");
  file.Request("http://a.example/", kDate, "GET / HTTP/1.1")
      .Notes("http://a.example/", kDate, "fetchTimeMs: 3\r\n");
  const Scanned scanned = Scan(file.bytes());
  ASSERT_EQ(scanned.companions.size(), 2u);
  EXPECT_EQ(scanned.companions[0].type, record::RecordType::kRequest);
  EXPECT_EQ(scanned.companions[1].type, record::RecordType::kMetadata);
  for (const Companion& companion : scanned.companions) {
    EXPECT_EQ(companion.about, scanned.record_ids[0]);
    EXPECT_NE(companion.offset, 0u);
    EXPECT_NE(companion.length, 0u);
  }
}

TEST(ContainerScan, DamageIsNamedAndTheRestRead) {
  const std::string good = WarcText()
                               .Response("http://a.example/1", kDate, std::string(500, 'a'))
                               .Response("http://a.example/2", kDate, std::string(500, 'b'))
                               .Response("http://a.example/3", kDate, std::string(500, 'c'))
                               .bytes();
  const Scanned whole = Scan(good);
  std::string bad = good;
  bad[whole.rows[1].place.offset + 40] ^= 0x55;
  const Scanned scanned = Scan(bad);
  EXPECT_EQ(scanned.urls, (std::vector<std::string>{"http://a.example/1", "http://a.example/3"}));
  ASSERT_EQ(scanned.summary.losses.size(), 1u);
  EXPECT_EQ(scanned.summary.losses[0].begin, whole.rows[1].place.offset);
}

TEST(ContainerScan, CapturesWithoutADateAreCounted) {
  const Scanned scanned = Scan(WarcText().Response("http://a.example/", "yesterday", "x").bytes());
  EXPECT_TRUE(scanned.rows.empty());
  EXPECT_EQ(scanned.summary.unlisted, 1u);
}

// What a reader of one record gets is not all of it.
TEST(ContainerScan, W15_TheFirstOfSeveralSegmentsIsCutOff) {
  const auto record = [](std::string_view fields, std::string_view block) {
    return fmt::format(
        "WARC/1.1\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: {}\r\n{}Content-Length: "
        "{}\r\n\r\n{}\r\n\r\n",
        kDate, fields, block.size(), block);
  };
  const Scanned scanned =
      Scan(record("WARC-Type: response\r\nWARC-Record-ID: <urn:s:1>\r\nWARC-Segment-Number: 1\r\n"
                  "Content-Type: application/http; msgtype=response\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\none ") +
           record("WARC-Type: continuation\r\nWARC-Record-ID: <urn:s:2>\r\n"
                  "WARC-Segment-Origin-ID: <urn:s:1>\r\nWARC-Segment-Number: 2\r\n"
                  "WARC-Segment-Total-Length: 49\r\n",
                  "two"));
  ASSERT_EQ(scanned.rows.size(), 1u);
  EXPECT_NE(scanned.rows[0].flags & catalog::kTruncated, 0u);
  ASSERT_EQ(scanned.companions.size(), 1u);
  EXPECT_EQ(scanned.companions[0].type, record::RecordType::kContinuation);
  EXPECT_EQ(scanned.companions[0].about, scanned.record_ids[0]);
}

}  // namespace
}  // namespace stele::archive
