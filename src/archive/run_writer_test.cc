#include "archive/run_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "archive/companions.h"
#include "archive/container_scan.h"
#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"
#include "archive/test_crawl.h"
#include "archive/verify.h"
#include "formats/record/digest_checker.h"
#include "formats/warc/rules.h"
#include "io/forwarding_file_system.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::CrawlTime;
using testing::Fetched;
using testing::Lines;
using testing::ResponseText;

constexpr std::uint32_t kBatch = 202611;

class RunWriting : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    Reopen();
    run_ = *archive_->BeginRun("crawl", "a test");
  }
  void Reopen(ArchiveWriter::Rebuild rebuild = ArchiveWriter::Rebuild::kNothing) {
    archive_.reset();
    auto opened = lab_.Open(rebuild);
    ASSERT_TRUE(opened) << opened.error().text;
    archive_ = *std::move(opened);
  }
  // Appends them one by one and finishes.
  void Write(const std::vector<CrawledCapture>& captures, const RunWriterOptions& options = {}) {
    RunWriter writer(*archive_, run_, options);
    for (const CrawledCapture& capture : captures) {
      const auto id = writer.AppendAndWait(capture);
      ASSERT_TRUE(id) << id.error().text;
    }
    const Status finished = writer.Finish();
    ASSERT_TRUE(finished) << finished.error().text;
  }
  std::vector<std::string> Defects() {
    const ArchiveView view = archive_->View();
    std::vector<std::string> defects;
    const auto outcome =
        Verify(view, {}, [&](const std::string& defect) { defects.push_back(defect); });
    if (!outcome) defects.push_back(outcome.error().text);
    return defects;
  }
  // "response http://a/ 123": type, target and bytes of the block of each record of a container;
  // also says what is wrong with them.
  std::vector<std::string> Records(std::uint32_t container) {
    const std::string path = *archive_->View().PathOf(container);
    auto file = archive_file::ArchiveFile::Open(fs_, path);
    EXPECT_TRUE(file);
    record::RecordReader& reader = (*file)->reader();
    std::vector<std::string> lines;
    while (const record::Record* record = *reader.Next()) {
      std::vector<record::Defect> defects;
      warc::CheckHead(*record, defects);
      record::DigestChecker digests;
      digests.Begin(*record);
      std::string line = fmt::format("{} {}", record->type_name, record->target_uri);
      blocks_.emplace_back();
      for (;;) {
        const Result<std::string_view> piece = reader.ReadBlock();
        if (!piece) return {piece.error().text};
        digests.Feed(*piece);
        if (piece->empty()) break;
        blocks_.back() += *piece;
      }
      digests.Finish(defects);
      EXPECT_GT(digests.compared(), 0u) << line;
      EXPECT_TRUE(reader.Finish());
      for (const record::Defect& defect : defects) ADD_FAILURE() << line << ": " << defect.text;
      lines.push_back(line);
    }
    EXPECT_TRUE(reader.losses().empty());
    return lines;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
  std::uint32_t run_ = 0;
  std::vector<std::string> blocks_;  // of Records()
};

TEST_F(RunWriting, I1_ACaptureIsResponseRequestAndNotesWithTheBytesOfTheWire) {
  CrawledCapture capture = Fetched(1, "");
  const std::string wire =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type:  text/html\r\n\r\n"
      "5;x=y\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n";
  capture.response = WireMessage::InMemory(wire);
  Write({capture});
  EXPECT_EQ(Records(1), (std::vector<std::string>{"warcinfo ", "response http://site.example/1",
                                                  "request http://site.example/1",
                                                  "metadata http://site.example/1"}));
  EXPECT_NE(blocks_[0].find("stele-batch: 202611\r\nstele-first-serial: 0\r\n"), std::string::npos);
  EXPECT_EQ(blocks_[1], wire);
  EXPECT_EQ(blocks_[2], "GET /1 HTTP/1.1\r\nHost: site.example\r\n\r\n");
  EXPECT_EQ(blocks_[3], "via: http://site.example/\r\nhopsFromSeed: L\r\n");
  const auto held = archive_->View().catalog().Get({kBatch, 0});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->row.length, 5u);
  const Digest sha1 = DigestOf(DigestAlgorithm::kSha1, "hello");
  EXPECT_EQ(std::string_view(held->row.sha1->data(), 20), sha1.bytes());
  EXPECT_EQ(held->row.run, run_);
  EXPECT_NE(held->row.flags & catalog::kPage, 0u);
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I1_FilesAreNamedAfterJobTimeSerialAndHost) {
  Write({Fetched(1, "one")}, {.job = "news/weekly", .host = "crawler-1.example"});
  EXPECT_EQ(
      *archive_->View().PathOf(1),
      "a/volumes/main/00000001/news_weekly-20261116100000001-00000-crawler_1.example.warc.gz");
}

TEST_F(RunWriting, D6_ARevisitHasTheHeadOnlyAndNamesItsOriginal) {
  const CrawledCapture original = Fetched(1, "the same");
  CrawledCapture again = Fetched(2, "the same");
  again.revisit = RevisitOriginal{.url = original.url,
                                  .time = original.time,
                                  .record_id = "<urn:uuid:8d8b5e7c-6c2f-4a8e-9a3c-0123456789ab>",
                                  .sha1 = {}};
  Write({original, again});
  const std::vector<std::string> records = Records(1);
  ASSERT_EQ(records.size(), 7u);
  EXPECT_EQ(records[4], "revisit http://site.example/2");
  EXPECT_EQ(blocks_[4], "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n");
  const ArchiveView view = archive_->View();
  const auto held = view.catalog().Get({kBatch, 1});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->row.flags & (catalog::kRevisit | catalog::kTruncated), catalog::kRevisit);
  const auto found = RevisitResolver(view).Resolve(*held);
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(found->row.id, (catalog::CaptureId{kBatch, 0}));
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I1_WhatIsHurriedIsTheSameButLonger) {
  std::string body;
  for (int i = 0; i < 2'000; ++i) body += fmt::format("<p>line {} of {}", i * i % 97, i % 13);
  CrawledCapture hurried = Fetched(2, body);
  hurried.hurried = true;
  Write({Fetched(1, body), hurried});
  const ArchiveView view = archive_->View();
  const auto small = view.catalog().Get({kBatch, 0});
  const auto fast = view.catalog().Get({kBatch, 1});
  ASSERT_TRUE(small && fast);
  EXPECT_GT(fast->row.place.length, small->row.place.length);
  EXPECT_EQ(fast->row.sha256, small->row.sha256);
  EXPECT_EQ(fast->row.text_digest, small->row.text_digest);
}

TEST_F(RunWriting, D6_A304IsARevisitWithTheProfileThatSaysSo) {
  const CrawledCapture original = Fetched(1, "the same");
  const ResponseFacts facts = *ExamineResponse(original.response);
  CrawledCapture again = Fetched(2, "");
  again.url = original.url;
  again.response = WireMessage::InMemory("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n");
  again.facts = *ExamineResponse(again.response);
  again.facts->type = "text/html";  // as whoever asked knows
  again.revisit = RevisitOriginal{.profile = warc::RevisitProfile::kServerNotModified,
                                  .url = original.url,
                                  .time = original.time,
                                  .record_id = "",
                                  .sha1 = facts.sha1};
  Write({original, again});
  Records(1);
  // Tools that show the head of a revisit show that of the original where it has none.
  EXPECT_EQ(blocks_[4], "");
  const ArchiveView view = archive_->View();
  const auto held = view.catalog().Get({kBatch, 1});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->row.status, 0u);
  EXPECT_EQ(held->row.type, "text/html");
  EXPECT_NE(held->row.flags & catalog::kPage, 0u);
  EXPECT_EQ(held->row.sha1, facts.sha1);
  ASSERT_TRUE(RevisitResolver(view).Resolve(*held));
}

TEST_F(RunWriting, D6_OriginalsKeptElsewhereAreNotedOnce) {
  Dependency dependency;
  dependency.run = run_;
  dependency.index = "/x/march %.index";
  dependency.sha256 = "ab";
  dependency.documents = 12;
  dependency.origin = "another archive";
  ASSERT_TRUE(archive_->AddDependency(dependency));
  ASSERT_TRUE(archive_->AddDependency(dependency));
  const auto reader = ArchiveReader::Open(fs_, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  const std::vector<Dependency> noted = (*reader)->View().holdings().dependencies();
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted[0].run, run_);
  EXPECT_EQ(noted[0].index, dependency.index);
  EXPECT_EQ(noted[0].sha256, "ab");
  EXPECT_EQ(noted[0].documents, 12u);
  EXPECT_EQ(noted[0].origin, "another archive");
  dependency.run = run_ + 1;  // which was never begun
  EXPECT_FALSE(archive_->AddDependency(dependency));
}

TEST_F(RunWriting, W15_ReadersSeeWhatIsAcknowledgedWhileTheContainerGrows) {
  RunWriter writer(*archive_, run_, {});
  ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "first")));
  auto reader = ArchiveReader::Open(fs_, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  EXPECT_EQ(Lines((*reader)->View()).size(), 1u);
  ASSERT_TRUE(writer.AppendAndWait(Fetched(2, "second")));
  ASSERT_TRUE((*reader)->Refresh());
  const ArchiveView view = (*reader)->View();
  EXPECT_EQ(Lines(view),
            (std::vector<std::string>{"202611/0 http://site.example/1 20261116100000001",
                                      "202611/1 http://site.example/2 20261116100000002"}));
  const auto held = view.catalog().Get({kBatch, 1});
  const auto content = [&] {
    auto record = view.Open(held->row);
    EXPECT_TRUE(record) << record.error().text;
    return std::string(*(*record)->Read());
  };
  EXPECT_EQ(content(), ResponseText("second"));
  EXPECT_EQ(*view.PathOf(1),
            "a/volumes/main/00000001/stele-20261116100000001-00000-localhost.warc.gz.open");
  // A view from before reads on when the container is sealed.
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(content(), ResponseText("second"));
  EXPECT_EQ(*view.PathOf(1),
            "a/volumes/main/00000001/stele-20261116100000001-00000-localhost.warc.gz");
}

TEST_F(RunWriting, W15_RequestsAndNotesGoWithTheirCaptureWhileTheContainerGrows) {
  RunWriter writer(*archive_, run_, {});
  for (int i = 1; i <= 3; ++i) {
    CrawledCapture capture = Fetched(i, fmt::format("page {}", i));
    if (i == 2) capture.metadata = {};
    ASSERT_TRUE(writer.AppendAndWait(capture));
  }
  const auto companions = [&] {
    const ArchiveView view = archive_->View();
    Companions all(view);
    std::vector<std::vector<Companion>> found;
    for (std::uint32_t serial = 0; serial < 3; ++serial) {
      const auto of_one = all.Of(view.catalog().Get({kBatch, serial})->row);
      EXPECT_TRUE(of_one) << of_one.error().text;
      found.push_back(of_one ? *of_one : std::vector<Companion>());
    }
    return found;
  };
  const std::vector<std::vector<Companion>> growing = companions();
  EXPECT_EQ(growing[0].size(), 2u);
  EXPECT_EQ(growing[1].size(), 1u);
  EXPECT_EQ(growing[2].size(), 2u);
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(companions(), growing);
}

TEST_F(RunWriting, P3_RowsAreThoseThatAScanOfTheContainerMakes) {
  std::vector<CrawledCapture> captures;
  for (int i = 0; i < 50; ++i) captures.push_back(Fetched(i, fmt::format("page {}", i / 2)));
  captures[7].request = WireMessage::InMemory(
      "POST /7 HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=1");
  captures[8].metadata = {{"hopsFromSeed", "LE"}};
  captures[9].response = WireMessage::InMemory("no HTTP at all");
  captures[10].truncated = warc::Truncation::kLength;
  Write(captures);
  const std::string rows = *archive_->layout().RowsPath("main", 1);
  const auto summary = WriteContainerRows(fs_, *archive_->View().PathOf(1), {}, "again.rows");
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(*io::ReadFile(fs_, rows), *io::ReadFile(fs_, "again.rows"));
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, P3_ReindexingGivesTheSameIds) {
  Write({Fetched(1, "one"), Fetched(2, "two"), Fetched(3, "three")}, {.container_bytes = 1});
  const std::vector<std::string> before = Lines(archive_->View());
  EXPECT_EQ(archive_->View().holdings().containers().size(), 3u);
  Reopen(ArchiveWriter::Rebuild::kCatalogAndRows);
  EXPECT_EQ(Lines(archive_->View()), before);
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I6_AContainerHasCapturesOfOneBatchOnly) {
  CrawledCapture december = Fetched(2, "two");
  december.time = *ParseIso("2026-12-01T00:00:00Z");
  Write({Fetched(1, "one"), december, Fetched(3, "three")});
  EXPECT_EQ(Lines(archive_->View()),
            (std::vector<std::string>{"202611/0 http://site.example/1 20261116100000001",
                                      "202612/0 http://site.example/2 20261201000000000",
                                      "202611/1 http://site.example/3 20261116100000003"}));
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I6_SerialsThatAContainerDidNotUseGoToTheNext) {
  Write({Fetched(1, "one")});
  Write({Fetched(2, "two")});
  EXPECT_EQ(archive_->View().holdings().NextSerial(kBatch), 2u);
  // While one grows, another container gets serials behind all that it may use.
  RunWriter writer(*archive_, run_, {});
  ASSERT_TRUE(writer.AppendAndWait(Fetched(3, "three")));
  testing::PutFile(
      fs_, "x.warc.gz",
      testing::WarcText().Response("http://import.example/", "2026-11-02T00:00:00Z", "x").bytes());
  const auto imported = ImportFile(*archive_, run_, "x.warc.gz", {});
  ASSERT_TRUE(imported) << imported.error().text;
  EXPECT_EQ(imported->container.batches.front().base, 2u + (1u << 20));
  ASSERT_TRUE(writer.AppendAndWait(Fetched(4, "four")));
  ASSERT_TRUE(writer.Finish());
  EXPECT_TRUE(Defects().empty());
  Reopen(ArchiveWriter::Rebuild::kCatalog);
  EXPECT_EQ(Lines(archive_->View()).size(), 5u);
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I1_LongResponsesComeFromFiles) {
  std::string body(6 << 20, '\0');
  io::SeededRandom dice(3);
  for (char& c : body) c = static_cast<char>(dice.Next());
  const std::string wire = ResponseText(body, "video/mp4");
  testing::PutFile(fs_, "spool", wire + "bytes of another message");
  CrawledCapture capture = Fetched(1, "");
  capture.response = WireMessage::InFile(*fs_.OpenForReading("spool"), wire.size());
  Write({Fetched(0, "before"), capture, Fetched(2, "behind")});
  Records(1);
  EXPECT_EQ(blocks_[4], wire);
  const auto held = archive_->View().catalog().Get({kBatch, 1});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->row.length, body.size());
  const auto summary = WriteContainerRows(fs_, *archive_->View().PathOf(1), {}, "again.rows");
  ASSERT_TRUE(summary);
  EXPECT_EQ(*io::ReadFile(fs_, *archive_->layout().RowsPath("main", 1)),
            *io::ReadFile(fs_, "again.rows"));
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I1_ManyThreadsAppendAndEachCaptureIsThereOnce) {
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  RunWriter writer(*archive_, run_, {.container_bytes = 20000});
  std::mutex mutex;
  std::set<catalog::CaptureId> ids;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const Status appended = writer.Append(Fetched(t * kEach + i, std::to_string(i)),
                                              [&](const Result<catalog::CaptureId>& id) {
                                                ASSERT_TRUE(id) << id.error().text;
                                                const std::lock_guard lock(mutex);
                                                EXPECT_TRUE(ids.insert(*id).second);
                                              });
        EXPECT_TRUE(appended);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(writer.Flush());
  EXPECT_EQ(ids.size(), std::size_t{kThreads * kEach});
  EXPECT_EQ(writer.totals().captures, std::uint64_t{kThreads * kEach});
  EXPECT_LT(writer.totals().syncs, writer.totals().captures);
  ASSERT_TRUE(writer.Finish());
  EXPECT_GT(archive_->View().holdings().containers().size(), 1u);
  EXPECT_EQ(Lines(archive_->View()).size(), std::size_t{kThreads * kEach});
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I1_WhatNoFieldCanHoldIsRefusedAndTheRestGoesOn) {
  RunWriter writer(*archive_, run_, {});
  CrawledCapture bad = Fetched(1, "one");
  bad.url += "\r\nWARC-Type: response";
  const auto refused = writer.AppendAndWait(bad);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(writer.AppendAndWait(Fetched(2, "two")));
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(Lines(archive_->View()).size(), 1u);
}

TEST_F(RunWriting, I1_AnUnfinishedContainerIsSealedWhenTheArchiveIsOpened) {
  {
    RunWriter writer(*archive_, run_, {});
    ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "one")));
    ASSERT_TRUE(writer.AppendAndWait(Fetched(2, "two")));
  }
  const std::vector<std::string> before = Lines(archive_->View());
  Reopen();
  EXPECT_TRUE(archive_->View().holdings().open_containers().empty());
  EXPECT_EQ(Lines(archive_->View()), before);
  EXPECT_EQ(Records(1).size(), 7u);
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I5_ATornTailIsSetAside) {
  std::string path;
  {
    RunWriter writer(*archive_, run_, {});
    ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "one")));
    path = *archive_->View().PathOf(1);
  }
  archive_.reset();
  const std::string good = *io::ReadFile(fs_, path);
  testing::PutFile(fs_, path, good + good.substr(0, 100));
  Reopen();
  EXPECT_EQ(*io::ReadFile(fs_, *archive_->View().PathOf(1)), good);
  EXPECT_EQ(*io::ReadFile(fs_, *archive_->layout().TornPath("main", 1)), good.substr(0, 100));
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I5_LostCapturesThatWereShownAreNamedAndReindexingGoesOn) {
  std::string path;
  std::size_t first = 0;
  {
    RunWriter writer(*archive_, run_, {});
    ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "one")));
    path = *archive_->View().PathOf(1);
    first = io::ReadFile(fs_, path)->size();
    ASSERT_TRUE(writer.AppendAndWait(Fetched(2, "two")));
  }
  archive_.reset();
  testing::PutFile(fs_, path, io::ReadFile(fs_, path)->substr(0, first));
  const auto opened = lab_.Open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  Reopen(ArchiveWriter::Rebuild::kCatalog);
  EXPECT_EQ(Lines(archive_->View()).size(), 1u);
  EXPECT_TRUE(Defects().empty());
}

TEST_F(RunWriting, I5_AFileThatLostAllItsCapturesIsNamedToo) {
  std::string path;
  {
    RunWriter writer(*archive_, run_, {});
    ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "one")));
    path = *archive_->View().PathOf(1);
  }
  archive_.reset();
  const std::string good = *io::ReadFile(fs_, path);
  for (const bool is_there : {true, false}) {
    SCOPED_TRACE(is_there);
    if (is_there) {
      testing::PutFile(fs_, path, std::string(good.size(), '\0'));
    } else {
      ASSERT_TRUE(fs_.Remove(path));
    }
    const auto opened = lab_.Open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  }
  // From a backup.
  testing::PutFile(fs_, path, good);
  Reopen();
  EXPECT_EQ(Lines(archive_->View()).size(), 1u);
  EXPECT_TRUE(Defects().empty());
}

// A megabyte that no compression makes smaller.
std::string Noise(int seed) {
  io::SeededRandom random(static_cast<std::uint64_t>(seed));
  std::string bytes(std::size_t{1} << 20, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Next());
  return bytes;
}

// A disk of its own for each volume.
class TwoDisks final : public io::ForwardingFileSystem {
 public:
  using io::ForwardingFileSystem::ForwardingFileSystem;
  Result<std::uint64_t> FreeBytes(const std::string& directory) override {
    return directory.ends_with("/first") ? first : second;
  }

  std::uint64_t first = std::uint64_t{1} << 30;
  std::uint64_t second = std::uint64_t{1} << 30;
};

TEST(RunWriterRoom, I1_AVolumeIsLeftBeforeItIsFullAndTheNextOneTaken) {
  io::MemoryFileSystem disk;
  TwoDisks fs{disk};
  io::ManualClock clock{testing::kNow};
  io::SeededRandom random{1};
  ArchiveConfig config;
  config.volumes = {{.name = "first", .path = ""}, {.name = "second", .path = ""}};
  ASSERT_TRUE(ArchiveWriter::Create(fs, "a", config));
  const auto archive = *ArchiveWriter::Open({fs, clock, random, "a test"}, "a");
  RunWriter writer(*archive, *archive->BeginRun("crawl", "a test"), {});
  ASSERT_TRUE(writer.AppendAndWait(Fetched(1, "one")));
  ASSERT_TRUE(writer.AppendAndWait(Fetched(2, "two")));
  // Room for files, and none beside what is kept free.
  fs.first = std::uint64_t{60} << 20;
  for (int i = 3; i < 10; ++i) {
    const std::string body = Noise(i);
    ASSERT_TRUE(writer.AppendAndWait(Fetched(i, body))) << i;
  }
  ASSERT_TRUE(archive->View().PathOf(2));
  EXPECT_NE(archive->View().PathOf(1)->find("/first/"), std::string::npos);
  EXPECT_NE(archive->View().PathOf(2)->find("/second/"), std::string::npos);
  EXPECT_EQ(archive->View().PathOf(3).error().code, ErrorCode::kNotFound);
  fs.second = fs.first;
  Status full;
  for (int i = 10; i < 20 && full; ++i) {
    const auto id = writer.AppendAndWait(Fetched(i, Noise(i)));
    if (!id) full = id.error();
  }
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kFull);
  EXPECT_GE(Lines(archive->View()).size(), 9U);
}

}  // namespace
}  // namespace stele::archive
