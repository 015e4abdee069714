#include "archive/warc_export.h"

#include <gtest/gtest.h>

#include "archive/test_archive.h"
#include "archive/test_segments.h"
#include "codec/gzip_codec.h"
#include "io/fault_file_system.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::FirstSegment;
using testing::kSegmentedPayload;
using testing::PutFile;
using testing::SecondSegment;
using testing::ThirdSegment;
using testing::WarcText;

constexpr const char* kThen = "2004-05-30T01:02:03Z";
constexpr const char* kLater = "2005-05-30T01:02:03Z";

class Export : public ::testing::Test {
 protected:
  void Import(const std::string& bytes) {
    if (archive_ == nullptr) {
      ASSERT_TRUE(lab_.Create());
      archive_ = *lab_.Open();
      ASSERT_TRUE(archive_->BeginRun("import", ""));
    }
    PutFile(fs_, "in.warc.gz", bytes);
    const auto outcome = ImportFile(*archive_, 1, "in.warc.gz", {});
    ASSERT_TRUE(outcome) << outcome.error().text;
  }

  // All captures, in the order of the index.
  Result<std::string> Write(ExportOptions options = {}) {
    options.compression = record::Compression::kNone;
    const ArchiveView view = archive_->View();
    io::StringSink sink;
    auto exported = WarcExport::Begin(view, clock_, random_, sink, options);
    if (!exported) return exported.error();
    CaptureQuery all;
    all.where.what = catalog::SelectAll();
    CaptureResults results(view, all);
    for (;;) {
      Result<const catalog::HeldCapture*> held = results.Next();
      if (!held) return held.error();
      if (*held == nullptr) break;
      Result<ExportedCapture> written = (*exported)->Add(**held);
      if (!written) return written.error();
    }
    unresolved_ = (*exported)->unresolved();
    return sink.Take();
  }

  // "type url block" of each record.
  static std::vector<std::string> Records(const std::string& warc) {
    std::vector<std::string> records;
    auto file = archive_file::ArchiveFile::Open(std::make_unique<io::MemorySource>(warc), "x");
    EXPECT_TRUE(file);
    record::RecordReader& reader = (*file)->reader();
    for (;;) {
      const record::Record* record = *reader.Next();
      if (record == nullptr) break;
      std::string text = fmt::format("{} {} ", record->type_name, record->target_uri);
      for (std::string_view piece; !(piece = *reader.ReadBlock()).empty();) text += piece;
      records.push_back(text);
    }
    EXPECT_TRUE(reader.losses().empty());
    return records;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  io::ManualClock clock_{testing::kNow};
  io::SeededRandom random_{5};
  std::unique_ptr<ArchiveWriter> archive_;
  std::uint64_t unresolved_ = 0;
};

TEST_F(Export, TakesRequestsAndNotesAlong) {
  const std::string url = "http://a.example/";
  Import(WarcText()
             .Response(url, kThen, "one")
             .Request(url, kThen, "GET / HTTP/1.1")
             .Notes(url, kThen, "fetchTimeMs: 3\r\n")
             .Response("http://b.example/", kThen, "two")
             .bytes());
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_TRUE(records[0].starts_with("warcinfo  software: Stele\r\n"));
  EXPECT_NE(records[0].find("isPartOf: test\r\n"), std::string::npos);
  EXPECT_TRUE(records[1].starts_with("response http://a.example/ HTTP/1.1 200"));
  EXPECT_EQ(records[2], "request http://a.example/ GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(records[3], "metadata http://a.example/ fetchTimeMs: 3\r\n");
  EXPECT_TRUE(records[4].starts_with("response http://b.example/ "));
}

// A response in three segments, each a file of its own.
class SegmentedExport : public Export {
 protected:
  static std::string First() {
    return FirstSegment("WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n") +
           testing::SegmentRecord(
               "WARC-Type: request\r\nWARC-Record-ID: <urn:s:4>\r\nWARC-Concurrent-To: "
               "<urn:s:1>\r\nContent-Type: application/http; msgtype=request\r\n",
               "GET / HTTP/1.1\r\n\r\n");
  }
  // Of the only capture there is.
  void ExpectJoined();
  // Of the segmented one, under another URL.
  void ImportRevisit() {
    Import(WarcText()
               .Revisit("http://b.example/", kLater, kSegmentedPayload, "http://a.example/", kThen)
               .bytes());
  }
};

constexpr const char* kJoined =
    "response http://a.example/ HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\none two three";
constexpr const char* kOnlyFirst =
    "response http://a.example/ HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\none ";
constexpr const char* kItsRequest = "request http://a.example/ GET / HTTP/1.1\r\n\r\n";

void SegmentedExport::ExpectJoined() {
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1], kJoined);
  EXPECT_EQ(records[2], kItsRequest);
  EXPECT_EQ(warc->find("WARC-Segment"), std::string::npos);
  EXPECT_EQ(warc->find("sha1:AAAA"), std::string::npos);
  EXPECT_NE(warc->find("WARC-Record-ID: <urn:s:1>"), std::string::npos);
  EXPECT_NE(warc->find("WARC-Payload-Digest: " +
                       DigestOf(DigestAlgorithm::kSha1, "one two three").Labelled()),
            std::string::npos);
  // Brought in again it is not cut off any more.
  io::MemoryFileSystem other;
  PutFile(other, "out.warc", *warc);
  ArchiveLab lab(other);
  ASSERT_TRUE(lab.Create());
  auto again = lab.Open();
  ASSERT_TRUE((*again)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**again, 1, "out.warc", {}));
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  const ArchiveView view = (*again)->View();
  CaptureResults results(view, all);
  const catalog::HeldCapture* capture = *results.Next();
  ASSERT_NE(capture, nullptr);
  EXPECT_EQ(capture->row.flags & catalog::kTruncated, 0u);
  EXPECT_EQ(capture->row.length, 13u);
}

TEST_F(SegmentedExport, I5_ARecordInSegmentsIsJoined) {
  Import(First() + ThirdSegment() + SecondSegment());
  ExpectJoined();
}

TEST_F(SegmentedExport, I5_SegmentsInOtherFilesAreFound) {
  for (const std::string& file : {ThirdSegment(), First(), SecondSegment()}) Import(file);
  ExpectJoined();
}

TEST_F(SegmentedExport, I5_AskedForEachSegmentComesAsItIs) {
  for (const std::string& file : {ThirdSegment(), First(), SecondSegment()}) Import(file);
  ExportOptions options;
  options.keep_revisits = true;
  const Result<std::string> warc = Write(options);
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[1], kOnlyFirst);
  EXPECT_EQ(records[2], kItsRequest);
  EXPECT_EQ(records[3], "continuation http://a.example/ two ");
  EXPECT_EQ(records[4], "continuation http://a.example/ three");
  EXPECT_NE(warc->find(SecondSegment()), std::string::npos);
  EXPECT_NE(warc->find(ThirdSegment()), std::string::npos);
}

TEST_F(SegmentedExport, I5_WhereSegmentsAreMissingThoseThatAreHereComeAsTheyAre) {
  Import(First());
  Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  EXPECT_EQ(Records(*warc).size(), 3u);
  EXPECT_EQ(Records(*warc)[1], kOnlyFirst);
  Import(ThirdSegment());
  warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  ASSERT_EQ(Records(*warc).size(), 4u);
  EXPECT_EQ(Records(*warc)[1], kOnlyFirst);
  EXPECT_EQ(Records(*warc)[3], "continuation http://a.example/ three");
}

TEST_F(SegmentedExport, I5_ASegmentOfAnotherRecordIsNotTaken) {
  std::string foreign = SecondSegment() + ThirdSegment();
  for (std::size_t at = 0; (at = foreign.find("<urn:s:1>", at)) != std::string::npos; ++at) {
    foreign.replace(at, 9, "<urn:t:1>");
  }
  Import(First() + foreign);
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  ASSERT_EQ(Records(*warc).size(), 3u);
  EXPECT_EQ(Records(*warc)[1], kOnlyFirst);
}

// Which lie before and behind it.
TEST_F(SegmentedExport, I5_ARevisitOfARecordInSegmentsIsWritten) {
  Import(FirstSegment() + SecondSegment());
  ImportRevisit();
  Import(ThirdSegment());
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1], kJoined);
  EXPECT_EQ(records[2], fmt::format("response http://b.example/ {}{}", testing::kSegmentedHead,
                                    kSegmentedPayload));
  EXPECT_EQ(warc->find("WARC-Truncated"), std::string::npos);
}

// Chunks end where segments do not.
TEST_F(SegmentedExport, I5_ARevisitOfChunksInSegmentsIsWritten) {
  constexpr const char* kHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  Import(FirstSegment("", kHead, "4\r\none \r\n9\r\ntw") + SecondSegment("o ") +
         ThirdSegment("three\r\n0\r\n\r\n", 75));
  ImportRevisit();
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1], fmt::format("response http://a.example/ {}4\r\none \r\n9\r\ntwo "
                                    "three\r\n0\r\n\r\n",
                                    kHead));
  EXPECT_EQ(records[2], fmt::format("response http://b.example/ {}{}", testing::kSegmentedHead,
                                    kSegmentedPayload));
}

TEST_F(SegmentedExport, I5_ARevisitOfWhatLacksSegmentsIsSaidToBeCutOff) {
  Import(FirstSegment() + SecondSegment());
  ImportRevisit();
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[3],
            fmt::format("response http://b.example/ {}one two ", testing::kSegmentedHead));
  EXPECT_NE(warc->find("WARC-Truncated: unspecified\r\n"), std::string::npos);
}

TEST_F(SegmentedExport, I5_WhatIsNotWhatItsFirstSegmentClaimsDoesNotGoOut) {
  Import(FirstSegment(testing::PayloadClaim("one two four!")) + SecondSegment() + ThirdSegment());
  const Result<std::string> warc = Write();
  ASSERT_FALSE(warc);
  EXPECT_EQ(warc.error().code, ErrorCode::kCorrupt);
}

// In one gzip member, where captures share an offset.
TEST_F(Export, W15_TakesOnlyItsOwnRequestsAlong) {
  const std::string a = "http://a.example/";
  const std::string b = "http://b.example/";
  const std::string plain = WarcText(record::Compression::kNone)
                                .Response(a, kThen, "one")
                                .Request(a, kThen, "GET /1 HTTP/1.1")
                                .Response(b, kThen, "two")
                                .Request(b, kThen, "GET /2 HTTP/1.1")
                                .Notes(b, kThen, "fetchTimeMs: 3\r\n")
                                .Response(a, kLater, "three")
                                .Request(a, kLater, "GET /3 HTTP/1.1")
                                .bytes();
  Import(*codec::GzipCodec().Compress(plain, 6));
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 8u);
  EXPECT_EQ(records[2], "request http://a.example/ GET /1 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(records[4], "request http://a.example/ GET /3 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(records[5].starts_with("response http://b.example/ "));
  EXPECT_EQ(records[6], "request http://b.example/ GET /2 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(records[7], "metadata http://b.example/ fetchTimeMs: 3\r\n");
}

// As in files that were made by putting others one behind another.
TEST_F(Export, W15_OfCapturesWithOneIdEachHasTheRequestBehindIt) {
  std::string both;
  for (const char* name : {"GET", "POST"}) {
    both += WarcText(record::Compression::kNone)
                .Response("http://a.example/", name[0] == 'G' ? kThen : kLater, name)
                .Request("http://a.example/", kThen, fmt::format("{} / HTTP/1.1", name))
                .bytes();
  }
  Import(both);
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_TRUE(records[1].ends_with("GET"));
  EXPECT_TRUE(records[2].starts_with("request http://a.example/ GET "));
  EXPECT_TRUE(records[3].ends_with("POST"));
  EXPECT_TRUE(records[4].starts_with("request http://a.example/ POST "));
}

// A request first, as Heritrix never did but others do, so that it begins the member.
TEST_F(Export, W15_ARequestThatBeginsAMemberGoesWithOneCapture) {
  std::string plain;
  for (const char* name : {"a", "b"}) {
    const std::string url = fmt::format("http://{}.example/", name);
    // The name in it is that of no capture here.
    plain += WarcText(record::Compression::kNone, 90)
                 .Request(url, kThen, fmt::format("GET /{} HTTP/1.1", name))
                 .bytes();
    plain += WarcText(record::Compression::kNone, static_cast<std::uint64_t>(name[0]))
                 .Response(url, kThen, name)
                 .bytes();
  }
  Import(*codec::GzipCodec().Compress(plain, 6));
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[2], "request http://a.example/ GET /a HTTP/1.1\r\n\r\n");
  EXPECT_EQ(records[4], "request http://b.example/ GET /b HTTP/1.1\r\n\r\n");
}

TEST_F(Export, D6_WritesTheWholeRecordInPlaceOfARevisit) {
  Import(WarcText().Response("http://a.example/", kThen, "same").bytes());
  WarcText later(record::Compression::kGzip, 8);
  later.Revisit("http://a.example/", kLater, "same");
  const std::string revisit_id = later.last_capture();
  later.Request("http://a.example/", kLater, "GET / HTTP/1.1");
  Import(later.bytes());
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 4u);
  // Its own HTTP head, the original's body.
  EXPECT_EQ(records[2],
            "response http://a.example/ HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nsame");
  // The request names the record by its new id.
  EXPECT_EQ(warc->find(revisit_id), std::string::npos);
  EXPECT_EQ(unresolved_, 0u);

  ExportOptions keep;
  keep.keep_revisits = true;
  const Result<std::string> kept = Write(keep);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(Records(*kept)[2].starts_with("revisit http://a.example/ HTTP/1.1 200 OK"));
  EXPECT_NE(kept->find(revisit_id), std::string::npos);
}

TEST_F(Export, D6_TheWholeRecordSaysOfTheFetchWhatTheRevisitSaid) {
  WarcText file;
  file.Response("http://a.example/", kThen, "same");
  file.RevisitWith("http://a.example/", kLater, "same",
                   {{"WARC-IP-Address", "192.0.2.1"},
                    {"WARC-Protocol", "http/1.1"},
                    {"WARC-Protocol", "tls/1.3"},
                    {"WARC-Page-ID", "a page of its own"},
                    {"WARC-Refers-To-Target-URI", "http://a.example/"},
                    {"WARC-Refers-To-Date", kThen}});
  Import(file.bytes());
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  for (const char* line : {"WARC-IP-Address: 192.0.2.1\r\n", "WARC-Protocol: http/1.1\r\n",
                           "WARC-Protocol: tls/1.3\r\n", "WARC-Page-ID: a page of its own\r\n"}) {
    EXPECT_NE(warc->find(line), std::string::npos) << line;
  }
  EXPECT_EQ(warc->find("WARC-Profile"), std::string::npos);
  EXPECT_EQ(warc->find("WARC-Refers-To"), std::string::npos);
}

TEST_F(Export, D6_ABodyThatWasChunkedFitsTheRevisitsHead) {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsame\r\n0\r\n\r\n";
  WarcText file;
  file.Block("http://a.example/", kThen, chunked);
  file.Revisit("http://a.example/", kLater, "same");
  Import(file.bytes());
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc) << warc.error().text;
  const std::vector<std::string> records = Records(*warc);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1], "response http://a.example/ " + chunked);
  EXPECT_EQ(records[2],
            "response http://a.example/ HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nsame");
}

TEST_F(Export, D6_ARevisitWhoseOriginalIsNotHereStaysOne) {
  Import(WarcText().Revisit("http://a.example/", kLater, "gone").bytes());
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc);
  EXPECT_TRUE(Records(*warc)[1].starts_with("revisit http://a.example/"));
  EXPECT_EQ(unresolved_, 1u);
}

TEST_F(Export, WhatIsDamagedDoesNotGoOut) {
  Import(WarcText(record::Compression::kNone).Response("http://a.example/", kThen, "good").bytes());
  const std::string path = *archive_->View().PathOf(1);
  std::string bytes = *io::ReadFile(fs_, path);
  bytes.replace(bytes.find("good"), 4, "evil");
  PutFile(fs_, path, bytes);
  const Result<std::string> warc = Write();
  ASSERT_FALSE(warc);
  EXPECT_EQ(warc.error().code, ErrorCode::kCorrupt);
}

TEST_F(Export, BroughtInAgainItHasTheSameCaptures) {
  Import(WarcText()
             .Response("http://a.example/", kThen, "same")
             .Response("http://a.example/x", kThen, "<p>x", "text/html", 404)
             .Revisit("http://a.example/", kLater, "same")
             .bytes());
  const Result<std::string> warc = Write();
  ASSERT_TRUE(warc);
  const auto facts = [](ArchiveWriter& archive) {
    std::vector<std::string> lines;
    const ArchiveView view = archive.View();
    CaptureQuery all;
    all.where.what = catalog::SelectAll();
    CaptureResults results(view, all);
    for (;;) {
      const catalog::HeldCapture* held = *results.Next();
      if (held == nullptr) return lines;
      const catalog::Capture& row = held->row;
      lines.push_back(fmt::format("{} {} {} {} {}", row.url, FormatDigits17(row.time), row.status,
                                  row.type, std::string_view(row.sha1->data(), 20)));
    }
  };
  io::MemoryFileSystem other;
  PutFile(other, "out.warc", *warc);
  ArchiveLab lab(other);
  ASSERT_TRUE(lab.Create());
  auto archive = lab.Open();
  ASSERT_TRUE(archive);
  ASSERT_TRUE((*archive)->BeginRun("import", ""));
  ASSERT_TRUE(ImportFile(**archive, 1, "out.warc", {}));
  EXPECT_EQ(facts(**archive), facts(*archive_));
  EXPECT_EQ(facts(**archive).size(), 3u);
}

// Takes so many bytes and no more.
class FullSink final : public io::Sink {
 public:
  explicit FullSink(std::size_t room) : room_(room) {}
  Status Write(std::string_view bytes) override {
    if (bytes.size() > room_) return Error{ErrorCode::kIo, "no room"};
    room_ -= bytes.size();
    return {};
  }

 private:
  std::size_t room_;
};

TEST_F(Export, I4_WhatCannotBeReachedIsLeftOutAndAFailingOutputIsNot) {
  Import(WarcText(record::Compression::kNone)
             .Response("http://a.example/", kThen, "one")
             .Response("http://c.example/", kThen, std::string(3'000'000, 'c'))
             .bytes());
  Import(
      WarcText(record::Compression::kNone, 9).Response("http://b.example/", kThen, "two").bytes());
  const auto of = [&](std::uint32_t serial) {
    return *archive_->View().catalog().Get({200405, serial});
  };
  // From any of the reads of the second on.
  int failures = 0;
  for (int fail_at = 1;; ++fail_at) {
    ASSERT_LT(fail_at, 10'000);
    io::FaultFileSystem broken(fs_, fail_at);
    const auto reader = ArchiveReader::Open(broken, "a");
    if (!reader) continue;
    const ArchiveView view = (*reader)->View();
    io::StringSink sink;
    auto exported = WarcExport::Begin(view, clock_, random_, sink,
                                      {.compression = record::Compression::kNone, .filename = ""});
    ASSERT_TRUE(exported);
    if (!(*exported)->Add(of(0))) continue;
    const Result<ExportedCapture> added = (*exported)->Add(of(2));
    EXPECT_EQ(Records(sink.content()).size(), added ? 3u : 2u);
    if (added) break;
    EXPECT_EQ(added.error().code, ErrorCode::kNotFound);
    ++failures;
  }
  EXPECT_GT(failures, 0);
  for (const std::size_t room : {std::size_t{1'000}, std::size_t{2'000'000}}) {
    FullSink sink(room);
    const ArchiveView view = archive_->View();
    auto exported = WarcExport::Begin(view, clock_, random_, sink,
                                      {.compression = record::Compression::kNone, .filename = ""});
    ASSERT_TRUE(exported && (*exported)->Add(of(0)));
    const Result<ExportedCapture> added = (*exported)->Add(of(1));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::kIo);
    const Result<ExportedCapture> next = (*exported)->Add(of(2));
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, ErrorCode::kIo);
  }
}

TEST(DerivedRecordId, IsAUuidOfVersionFiveThatDependsOnBoth) {
  const auto at = [](std::uint64_t offset, std::string_view head = "", bool begins = true) {
    record::Record record;
    record.offset = offset;
    record.head = head;
    record.at_member_start = begins;
    return record;
  };
  // As Python's uuid.uuid5() makes it, in the name space 8e1f4b0c-526d-5a37-9c21-5e04d17b6690, of
  // "ab:7" and "ab:7 one": ids that were handed out must not change.
  const std::string id = DerivedRecordId("ab", at(7));
  EXPECT_EQ(id, "urn:uuid:351a6bb9-8c27-5fac-a3ad-72e50c4cc1c0");
  EXPECT_EQ(DerivedRecordId("ab", at(7, "one", false)),
            "urn:uuid:9ccbaf45-d3fa-599c-9ba5-ba7314633686");
  EXPECT_EQ(DerivedRecordId("ab", at(7, "any")), id);
  EXPECT_NE(DerivedRecordId("ab", at(8)), id);
  EXPECT_NE(DerivedRecordId("ac", at(7)), id);
  // In one member.
  EXPECT_NE(DerivedRecordId("ab", at(7, "one", false)), id);
  EXPECT_NE(DerivedRecordId("ab", at(7, "one", false)), DerivedRecordId("ab", at(7, "two", false)));
}

}  // namespace
}  // namespace stele::archive
