#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "codec/crc32.h"
#include "formats/zip/zip_reader.h"
#include "formats/zip/zip_writer.h"
#include "io/memory_file_system.h"
#include "util/coding.h"
#include "util/test_paths.h"

namespace stele::zip {
namespace {

const Timestamp kTime = *ParseIso("2023-11-14T22:13:20Z");

std::shared_ptr<const io::ReadableFile> FileOf(io::FileSystem& fs, std::string_view bytes) {
  EXPECT_TRUE(io::ReplaceFile(fs, "x.zip", bytes));
  return std::shared_ptr<const io::ReadableFile>(*fs.OpenForReading("x.zip"));
}

std::string TwoMembers(std::uint64_t wide_from = kElsewhere32) {
  io::StringSink sink;
  ZipWriter writer(sink, {.time = kTime, .wide_from = wide_from});
  EXPECT_TRUE(writer.Add("archive/data.warc.gz", "these are the records"));
  EXPECT_TRUE(writer.Add("pages/pages.jsonl", "{}\n"));
  EXPECT_TRUE(writer.Finish());
  return sink.Take();
}

// "abcabcabc..." deflated, as a member that another program wrote.
std::string Deflated() {
  const std::string content = "abcabcabcabcabcabcabcabcabcabc";
  const std::string packed("\x4b\x4c\x4a\x4e\xc4\x8d\x00", 7);
  std::string local;
  const auto put16 = [](std::string& out, int value) {
    out += static_cast<char>(value & 0xff);
    out += static_cast<char>(value >> 8);
  };
  const auto put_head = [&](std::string& out) {
    put16(out, 20);
    put16(out, 0);
    put16(out, 8);
    PutFixed32(out, 0);
    PutFixed32(out, codec::Crc32(0, content));
    PutFixed32(out, static_cast<std::uint32_t>(packed.size()));
    PutFixed32(out, static_cast<std::uint32_t>(content.size()));
    put16(out, 1);
    put16(out, 0);
  };
  PutFixed32(local, kLocalSignature);
  put_head(local);
  local += "a" + packed;
  std::string central;
  PutFixed32(central, kCentralSignature);
  put16(central, 20);
  put_head(central);
  central += std::string(10, '\0');
  PutFixed32(central, 0);
  central += 'a';
  std::string end;
  PutFixed32(end, kEndSignature);
  PutFixed32(end, 0);
  put16(end, 1);
  put16(end, 1);
  PutFixed32(end, static_cast<std::uint32_t>(central.size()));
  PutFixed32(end, static_cast<std::uint32_t>(local.size()));
  put16(end, 0);
  return local + central + end;
}

TEST(Zip, ReadsWhatItWrote) {
  for (const std::uint64_t wide_from : {std::uint64_t{kElsewhere32}, std::uint64_t{10}}) {
    io::MemoryFileSystem fs;
    const std::string bytes = TwoMembers(wide_from);
    EXPECT_TRUE(LooksLikeZip(bytes));
    const auto zip = ZipReader::Open(FileOf(fs, bytes));
    ASSERT_TRUE(zip) << zip.error().text;
    ASSERT_EQ((*zip)->entries().size(), 2u);
    const Entry* entry = (*zip)->Find("archive/data.warc.gz");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(*(*zip)->ReadContent(*entry, 100), "these are the records");
    const Result<Range> range = (*zip)->RangeOf(*entry);
    ASSERT_TRUE(range);
    EXPECT_EQ(bytes.substr(range->begin, range->end - range->begin), "these are the records");
    EXPECT_EQ((*zip)->At(range->begin + 3), entry);
    EXPECT_EQ((*zip)->At(bytes.size()), nullptr);
    EXPECT_EQ((*zip)->Find("archive/other"), nullptr);
    const auto file = (*zip)->OpenStored(*entry);
    ASSERT_TRUE(file);
    std::string some(100, '\0');
    EXPECT_EQ(*(*file)->ReadAt(6, some), 15u);
    EXPECT_TRUE(some.starts_with("are the records"));
    EXPECT_EQ(*(*file)->ReadAt(21, some), 0u);
  }
}

TEST(Zip, TheGoldenFileIsWrittenByteForByte) {
  std::ifstream file(SourcePath("src/formats/zip/golden/two-members.zip"), std::ios::binary);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(TwoMembers(), golden.str());
}

TEST(Zip, InflatesAndComparesTheChecksum) {
  io::MemoryFileSystem fs;
  std::string bytes = Deflated();
  auto zip = ZipReader::Open(FileOf(fs, bytes));
  ASSERT_TRUE(zip) << zip.error().text;
  const Result<std::string> content = (*zip)->ReadContent((*zip)->entries()[0], 100);
  ASSERT_TRUE(content) << content.error().text;
  EXPECT_EQ(*content, "abcabcabcabcabcabcabcabcabcabc");
  EXPECT_EQ((*zip)->OpenStored((*zip)->entries()[0]).error().code, ErrorCode::kInvalid);
  EXPECT_EQ((*zip)->ReadContent((*zip)->entries()[0], 29).error().code, ErrorCode::kFull);
  // The checksum in the directory, where the reader looks.
  const std::size_t central = bytes.find(std::string("PK\x01\x02", 4));
  bytes[central + 16] ^= 1;
  zip = ZipReader::Open(FileOf(fs, bytes));
  ASSERT_TRUE(zip);
  EXPECT_EQ((*zip)->ReadContent((*zip)->entries()[0], 100).error().code, ErrorCode::kCorrupt);
  // A size that promises less than there is, and one that promises more.
  for (const char size : {'\x05', '\x40'}) {
    bytes = Deflated();
    bytes[central + 24] = size;
    zip = ZipReader::Open(FileOf(fs, bytes));
    ASSERT_TRUE(zip);
    EXPECT_EQ((*zip)->ReadContent((*zip)->entries()[0], 100).error().code, ErrorCode::kCorrupt);
  }
}

TEST(Zip, RefusesEntriesThatShareBytes) {
  io::MemoryFileSystem fs;
  std::string bytes = TwoMembers();
  // The second entry of the directory says that it begins where the first does.
  const std::size_t second = bytes.rfind(std::string("PK\x01\x02", 4));
  bytes.replace(second + 42, 4, 4, '\0');
  const auto zip = ZipReader::Open(FileOf(fs, bytes));
  ASSERT_FALSE(zip);
  EXPECT_EQ(zip.error().code, ErrorCode::kCorrupt);
}

TEST(Zip, RefusesNamesThatLeadElsewhere) {
  for (const char* name : {"../passwd", "a/../../b", "/etc/passwd", "a\\b", "a/.."}) {
    io::MemoryFileSystem fs;
    io::StringSink sink;
    ZipWriter writer(sink, {.time = kTime});
    ASSERT_TRUE(writer.Add(name, "x"));
    ASSERT_TRUE(writer.Finish());
    const auto zip = ZipReader::Open(FileOf(fs, sink.content()));
    ASSERT_FALSE(zip) << name;
    EXPECT_EQ(zip.error().code, ErrorCode::kCorrupt);
  }
}

TEST(Zip, CutAnywhereOrWithAnyByteChangedItIsReadOrRefused) {
  io::MemoryFileSystem fs;
  for (const std::string& whole : {TwoMembers(), TwoMembers(10), Deflated()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(ZipReader::Open(FileOf(fs, whole.substr(0, size)))) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
      const auto zip = ZipReader::Open(FileOf(fs, bytes));
      if (!zip) continue;
      for (const Entry& entry : (*zip)->entries()) {
        const Result<std::string> content = (*zip)->ReadContent(entry, 1000);
        EXPECT_EQ(content ? content->size() : entry.bytes, entry.bytes);
      }
    }
  }
}

TEST(Zip, WritesOnlyWhatWasAnnounced) {
  io::StringSink sink;
  ZipWriter writer(sink, {.time = kTime});
  ASSERT_TRUE(writer.Begin("a", {3, codec::Crc32(0, "abc")}));
  EXPECT_FALSE(writer.Append("abcd"));
  EXPECT_FALSE(writer.Append("abd"));
  io::StringSink other;
  ZipWriter twice(other, {.time = kTime});
  ASSERT_TRUE(twice.Add("a", "1"));
  EXPECT_EQ(twice.Add("a", "2").error().code, ErrorCode::kInvalid);
}

// Fails from the n-th write on.
class FailingSink final : public io::Sink {
 public:
  explicit FailingSink(int fail_at) : left_(fail_at) {}
  Status Write(std::string_view) override {
    return --left_ > 0 ? Status() : Error{ErrorCode::kFull, "the disk is full"};
  }

 private:
  int left_;
};

TEST(Zip, ReportsEveryWriteThatFails) {
  for (int fail_at = 1;; ++fail_at) {
    FailingSink sink(fail_at);
    ZipWriter writer(sink, {.time = kTime});
    const bool done = writer.Add("a", "1") && writer.Add("b", "2") && writer.Finish();
    if (done) {
      EXPECT_EQ(fail_at, 8);  // two of each member, one of each in the directory, the end
      break;
    }
  }
}

}  // namespace
}  // namespace stele::zip
