#include "catalog/page_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/page_file_format.h"
#include "catalog/page_file_writer.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"
#include "io/random.h"
#include "util/test_paths.h"

namespace stele::catalog {
namespace {

using testing::HasSubstr;

const std::string kGoldenPageFile = SourcePath("src/catalog/golden/page-file-1");

// Some that compress, one that does not, one that is empty.
std::vector<std::string> ExamplePages() {
  std::vector<std::string> pages;
  for (int page = 0; page < 4; ++page) {
    std::string content;
    for (int i = 0; i < 40; ++i) content += fmt::format("com,example)/{}/{} ", page, i);
    pages.push_back(content);
  }
  io::SeededRandom dice(1);
  pages.emplace_back();
  for (int i = 0; i < 100; ++i) pages.back() += static_cast<char>(dice.Next());
  pages.emplace_back();
  return pages;
}

Status WriteExample(io::FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<PageFileWriter>> writer = PageFileWriter::Create(fs, path, "example");
  if (!writer) return writer.error();
  std::uint32_t number = 0;
  for (const std::string& page : ExamplePages()) {
    const Result<std::uint32_t> written = (*writer)->Append({page}, fmt::format("key {}", number));
    if (!written) return written.error();
    EXPECT_EQ(*written, number++);
  }
  EXPECT_EQ((*writer)->pages(), number);
  return (*writer)->Finish("six pages");
}

// Nothing when it is there and complete, else why not.
std::optional<Error> ExampleError(io::FileSystem& fs, const std::string& path) {
  PageCache cache(1 << 20);
  const Result<std::unique_ptr<PageFile>> file = PageFile::Open(fs, path, "example", cache);
  if (!file) return file.error();
  std::uint32_t number = 0;
  for (const std::string& page : ExamplePages()) {
    const Result<Page> read = (*file)->Read(number++);
    if (!read) return read.error();
    if (**read != page) return Error{ErrorCode::kInvalid, "another page than was written"};
  }
  return std::nullopt;
}

class PageFileTest : public testing::Test {
 protected:
  std::unique_ptr<PageFile> Open() {
    Result<std::unique_ptr<PageFile>> file = PageFile::Open(disk_, "f", "example", cache_);
    EXPECT_TRUE(file) << file.error().text;
    return file ? std::move(*file) : nullptr;
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 20};
};

TEST_F(PageFileTest, P1_PagesComeBack) {
  ASSERT_TRUE(WriteExample(disk_, "f"));
  const std::unique_ptr<PageFile> file = Open();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(file->pages(), 6u);
  EXPECT_EQ(file->summary(), "six pages");
  const std::vector<std::string> pages = ExamplePages();
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t page = 0; page < 6; ++page) {
      EXPECT_EQ(**file->Read(page), pages[page]);
      EXPECT_EQ(**file->ReadPast(page), pages[page]);
    }
  }
  EXPECT_EQ(file->index().LastAtOrBefore("key 3b"), 3u);
  EXPECT_EQ(file->bytes(), io::ReadFile(disk_, "f")->size());
  EXPECT_FALSE(*disk_.Exists("f.new"));
  file->Verify([](const Error& error) { ADD_FAILURE() << error.text; });
}

TEST_F(PageFileTest, P1_PagesAreCompressed) {
  const std::string page(kPageBytes, 'a');
  auto writer = PageFileWriter::Create(disk_, "f", "example");
  ASSERT_TRUE(writer);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE((*writer)->Append({page}));
  ASSERT_TRUE((*writer)->Finish(""));
  EXPECT_LT(io::ReadFile(disk_, "f")->size(), 1000u);
  EXPECT_EQ(**Open()->Read(9), page);
}

TEST_F(PageFileTest, P1_PartsOfAPageAreCompressedByThemselvesAndComeBackAsOne) {
  io::SeededRandom dice(1);
  std::string digests;
  std::string texts;
  for (int i = 0; i < 8000; ++i) {
    digests += static_cast<char>(dice.Next());
    texts += static_cast<char>('0' + dice.Next() % 10);
  }
  const auto size_of = [this](const PageParts& page) {
    auto writer = PageFileWriter::Create(disk_, "f", "example");
    EXPECT_TRUE((*writer)->Append(page));
    EXPECT_TRUE((*writer)->Finish(""));
    return io::ReadFile(disk_, "f")->size();
  };
  const std::size_t together = size_of({digests + texts});
  const std::size_t apart = size_of({digests, std::string(), texts});
  EXPECT_LT(apart + 500, together);
  EXPECT_EQ(**Open()->Read(0), digests + texts);
}

TEST_F(PageFileTest, P1_AFileWithoutPagesIsAFile) {
  auto writer = PageFileWriter::Create(disk_, "f", "example");
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->Finish(""));
  EXPECT_EQ(Open()->pages(), 0u);
}

TEST_F(PageFileTest, P1_AFileThatIsNotFinishedLeavesNothing) {
  {
    auto writer = PageFileWriter::Create(disk_, "f", "example");
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->Append({"page"}));
  }
  EXPECT_TRUE(disk_.List(".")->empty());
  EXPECT_EQ(PageFile::Open(disk_, "f", "example", cache_).error().code, ErrorCode::kNotFound);
}

TEST_F(PageFileTest, P1_AnotherKindIsRefused) {
  ASSERT_TRUE(WriteExample(disk_, "f"));
  const auto file = PageFile::Open(disk_, "f", "exampl", cache_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(file.error().text, HasSubstr("\"exampl\""));
}

TEST_F(PageFileTest, P1_EveryFlippedBitIsFoundAndNamed) {
  ASSERT_TRUE(WriteExample(disk_, "good"));
  const std::string good = *io::ReadFile(disk_, "good");
  auto example = PageFile::Open(disk_, "good", "example", cache_);
  ASSERT_TRUE(example);
  const PageIndex index = (*example)->index();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(io::ReplaceFile(disk_, "f", flipped));
    const std::optional<Error> error = ExampleError(disk_, "f");
    ASSERT_TRUE(error) << bit;
    EXPECT_EQ(error->code, ErrorCode::kCorrupt) << error->text;
    EXPECT_THAT(error->text, testing::StartsWith("f: "));
    for (std::uint32_t page = 0; page < index.size(); ++page) {
      const std::uint64_t offset = index.offset(page);
      if (bit / 8 < offset || bit / 8 >= offset + index.length(page)) continue;
      EXPECT_THAT(error->text, HasSubstr(fmt::format("page {} at byte {} ", page, offset)));
      int found = 0;
      Open()->Verify([&](const Error& each) {
        EXPECT_EQ(each.text, error->text);
        ++found;
      });
      EXPECT_EQ(found, 1);
      EXPECT_EQ(Open()->CheckPage(page).error().text, error->text);
    }
  }
}

TEST_F(PageFileTest, P1_AFileCutShortIsRefused) {
  ASSERT_TRUE(WriteExample(disk_, "f"));
  const std::string good = *io::ReadFile(disk_, "f");
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_TRUE(io::ReplaceFile(disk_, "f", good.substr(0, size)));
    const std::optional<Error> error = ExampleError(disk_, "f");
    ASSERT_TRUE(error) << size;
    EXPECT_EQ(error->code, ErrorCode::kCorrupt);
  }
}

TEST_F(PageFileTest, P1_PagesThatChangedPlacesAreFound) {
  auto writer = PageFileWriter::Create(disk_, "f", "example");
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->Append({"one page"}));
  ASSERT_TRUE((*writer)->Append({"two page"}));
  ASSERT_TRUE((*writer)->Finish(""));
  const PageIndex index = Open()->index();
  const std::string good = *io::ReadFile(disk_, "f");
  const std::size_t length = index.length(0);
  ASSERT_EQ(index.length(1), length);
  std::string swapped = good.substr(0, index.offset(0)) + good.substr(index.offset(1), length) +
                        good.substr(index.offset(0), length) + good.substr(index.end());
  ASSERT_TRUE(io::ReplaceFile(disk_, "f", swapped));
  EXPECT_FALSE(Open()->Read(0));
  EXPECT_FALSE(Open()->Read(1));
}

// Whatever fails: an error is reported, the old file stays or the new one is complete, and trying
// again works.
TEST(PageFileFailure, P1_AFailingDiskLeavesTheOldFileOrTheNew) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    ASSERT_TRUE(io::ReplaceFile(disk, "f", "old"));
    io::FaultFileSystem fs(disk, fail_at);
    const Status written = WriteExample(fs, "f");
    const std::string left = *io::ReadFile(disk, "f");
    EXPECT_TRUE((!written && left == "old") || !ExampleError(disk, "f")) << fail_at;
    if (written) {
      EXPECT_GT(fail_at, 5);
      break;
    }
    EXPECT_EQ(written.error().code, ErrorCode::kIo);
    EXPECT_TRUE(WriteExample(disk, "f"));
    EXPECT_FALSE(ExampleError(disk, "f")) << fail_at;
    EXPECT_EQ(disk.List(".")->size(), 1u) << "a leftover was not replaced";
  }
}

TEST(PageFileFailure, P1_AfterAPowerCutTheFileIsMissingOrComplete) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    io::MemoryFileSystem disk;
    io::SeededRandom dice(seed);
    io::FaultFileSystem fs(disk, static_cast<int>(seed % 10) + 1);
    const Status written = WriteExample(fs, "f");
    disk.Crash(dice);
    const std::optional<Error> error = ExampleError(disk, "f");
    if (written) {
      EXPECT_FALSE(error) << error->text;
    } else if (error) {
      EXPECT_EQ(error->code, ErrorCode::kNotFound) << error->text;
    }
  }
}

TEST(PageFileFailure, P1_AFailingDiskIsReportedToTheReader) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(WriteExample(disk, "f"));
  for (int fail_at = 1;; ++fail_at) {
    io::FaultFileSystem fs(disk, fail_at);
    const std::optional<Error> error = ExampleError(fs, "f");
    if (!error) break;
    EXPECT_EQ(error->code, ErrorCode::kIo) << error->text;
  }
}

TEST(PageFileGolden, P1_TheGoldenFileIsRead) {
  io::PosixFileSystem files;
  const std::optional<Error> error = ExampleError(files, kGoldenPageFile);
  EXPECT_FALSE(error) << error->text;
}

TEST(PageFileGolden, P1_TheSamePagesMakeTheSameFrame) {
  io::PosixFileSystem files;
  const std::string made = testing::TempDir() + "page-file-1";
  ASSERT_TRUE(WriteExample(files, made));
  PageCache cache(1 << 20);
  const auto now = PageFile::Open(files, made, "example", cache);
  const auto golden = PageFile::Open(files, kGoldenPageFile, "example", cache);
  ASSERT_TRUE(golden) << "what is written now is in " << made;
  ASSERT_EQ((*now)->pages(), (*golden)->pages());
  EXPECT_EQ((*now)->summary(), (*golden)->summary());
  EXPECT_EQ(io::ReadFile(files, made)->substr(0, kPageFileHeadSize),
            io::ReadFile(files, kGoldenPageFile)->substr(0, kPageFileHeadSize));
  for (std::uint32_t page = 0; page < (*now)->pages(); ++page) {
    EXPECT_EQ((*now)->index().first_key(page), (*golden)->index().first_key(page));
  }
}

}  // namespace
}  // namespace stele::catalog
