#include "archive/open_containers.h"

#include <functional>

#include "archive/test_archive.h"
#include "io/forwarding_file_system.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::PutFile;
using testing::WarcText;

class OpenContainersTest : public ::testing::Test {
 protected:
  OpenedFile Open() {
    PutFile(fs_, "x.warc", WarcText().bytes());
    return {std::move(*archive_file::ArchiveFile::Open(fs_, "x.warc")), 0, 100};
  }
  // Whether one is open that has the byte.
  bool Has(std::uint32_t container, std::uint64_t offset) {
    OpenContainers::Lent lent = containers_.Take(container, offset);
    const bool is_open = lent.opened.file != nullptr;
    if (is_open) containers_.GiveBack(std::move(lent));
    return is_open;
  }

  io::MemoryFileSystem fs_;
  OpenContainers containers_;
};

TEST_F(OpenContainersTest, W15_WhatWasGivenBackIsLentAgain) {
  OpenContainers::Lent lent = containers_.Take(3, 50);
  ASSERT_EQ(lent.opened.file, nullptr);
  lent.opened = Open();
  const auto* file = lent.opened.file.get();
  containers_.GiveBack(std::move(lent));
  EXPECT_FALSE(Has(2, 50));
  EXPECT_FALSE(Has(3, 100));
  EXPECT_TRUE(Has(3, 99));
  OpenContainers::Lent again = containers_.Take(3, 0);
  EXPECT_EQ(again.opened.file.get(), file);
  EXPECT_FALSE(Has(3, 0)) << "it is lent to one at a time";
}

TEST_F(OpenContainersTest, W15_WhatWasLentBeforeAllWereClosedIsNotKept) {
  OpenContainers::Lent kept = containers_.Take(1, 0);
  kept.opened = Open();
  OpenContainers::Lent lent = containers_.Take(2, 0);
  lent.opened = Open();
  containers_.GiveBack(std::move(kept));
  containers_.CloseAll();
  EXPECT_FALSE(Has(1, 0));
  containers_.GiveBack(std::move(lent));
  EXPECT_FALSE(Has(2, 0));
}

TEST_F(OpenContainersTest, W15_OfTooManyTheOldestIsClosed) {
  for (std::uint32_t container = 1; container <= 40; ++container) {
    OpenContainers::Lent lent = containers_.Take(container, 0);
    lent.opened = Open();
    containers_.GiveBack(std::move(lent));
    EXPECT_TRUE(Has(1, 0)) << "what is used stays";
  }
  EXPECT_FALSE(Has(2, 0));
  EXPECT_TRUE(Has(40, 0));
}

// All of a record's block.
Result<std::string> ReadBlock(const ArchiveView& view, const catalog::Capture& row) {
  Result<std::unique_ptr<StoredRecord>> record = view.Open(row);
  if (!record) return record.error();
  std::string block;
  for (;;) {
    Result<std::string_view> piece = (*record)->Read();
    if (!piece) return piece.error();
    if (piece->empty()) return block;
    block += *piece;
  }
}

class ReadingAgain : public ::testing::TestWithParam<record::Compression> {};

TEST_P(ReadingAgain, W15_RecordsOfOneFileAreReadInAnyOrder) {
  io::MemoryFileSystem fs;
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  WarcText warc(GetParam());
  for (int i = 0; i < 20; ++i) {
    // Some are too large for a buffer to be kept.
    const std::string body(static_cast<std::size_t>(i % 7 == 3 ? 600'000 : 100 * i),
                           static_cast<char>('a' + i));
    warc.Response(fmt::format("http://a.org/{}", i), "2014-01-01T00:00:00Z", body);
  }
  PutFile(fs, "x.warc", warc.bytes());
  {
    auto archive = *lab.Open();
    const std::uint32_t run = *archive->BeginRun("import", "");
    ASSERT_TRUE(ImportFile(*archive, run, "x.warc", {}));
    ASSERT_TRUE(archive->EndRun(run));
  }
  const auto reader = *ArchiveReader::Open(fs, "a");
  const ArchiveView view = reader->View();
  io::SeededRandom dice(5);
  for (int round = 0; round < 200; ++round) {
    const auto serial = static_cast<std::uint32_t>(dice.Next() % 20);
    const Result<catalog::HeldCapture> held = view.catalog().Get({201401, serial});
    ASSERT_TRUE(held);
    if (round % 5 == 0) {  // given back with most of it unread
      const auto record = *view.Open(held->row);
      ASSERT_TRUE(record->Read());
    }
    const Result<std::string> block = ReadBlock(view, held->row);
    ASSERT_TRUE(block) << block.error().text;
    EXPECT_EQ(block->size() - block->find("\r\n\r\n") - 4, held->row.length);
    EXPECT_EQ(
        block->find_first_not_of(static_cast<char>('a' + serial), block->find("\r\n\r\n") + 4),
        std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Compressions, ReadingAgain,
                         ::testing::Values(record::Compression::kNone, record::Compression::kGzip,
                                           record::Compression::kZstd));

TEST(ArchiveReaders, W15_AFileThatIsGoneIsNoticedWhenTheReaderIsRefreshed) {
  io::MemoryFileSystem fs;
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  PutFile(fs, "x.warc", WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "a").bytes());
  {
    auto archive = *lab.Open();
    const std::uint32_t run = *archive->BeginRun("import", "");
    ASSERT_TRUE(ImportFile(*archive, run, "x.warc", {}));
    ASSERT_TRUE(archive->EndRun(run));
  }
  const auto reader = *ArchiveReader::Open(fs, "a");
  const catalog::HeldCapture held = *reader->View().catalog().Get({201401, 0});
  ASSERT_TRUE(ReadBlock(reader->View(), held.row));
  ASSERT_TRUE(fs.Remove(*reader->View().PathOf(held.row.place.container)));
  EXPECT_TRUE(ReadBlock(reader->View(), held.row)) << "it is still open";
  ASSERT_TRUE(reader->Refresh());
  const Result<std::string> gone = ReadBlock(reader->View(), held.row);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
}

// Does something before a file is removed.
class HookedFileSystem final : public io::ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  std::function<void(const std::string& path)> before_removal = [](const std::string&) {};

  Status Remove(const std::string& path) override {
    before_removal(path);
    return base_.Remove(path);
  }
};

TEST(ArchiveWriters, W15_AFileThatIsReadWhileItIsDeletedDoesNotStayOpen) {
  io::MemoryFileSystem disk;
  HookedFileSystem fs(disk);
  ArchiveLab lab(fs);
  ASSERT_TRUE(lab.Create());
  PutFile(fs, "x.warc", WarcText().Response("http://a.org/", "2014-01-01T00:00:00Z", "a").bytes());
  auto archive = *lab.Open();
  const std::uint32_t run = *archive->BeginRun("import", "");
  ASSERT_TRUE(ImportFile(*archive, run, "x.warc", {}));
  const ArchiveView view = archive->View();
  const catalog::HeldCapture held = *view.catalog().Get({201401, 0});
  const std::string path = *view.PathOf(held.row.place.container);
  bool was_read = false;
  fs.before_removal = [&](const std::string& removed) {
    if (removed == path) was_read = ReadBlock(view, held.row).ok();
  };
  ASSERT_TRUE(archive->Purge(held.row.place.container));
  EXPECT_TRUE(was_read);
  const Result<std::string> gone = ReadBlock(view, held.row);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stele::archive
