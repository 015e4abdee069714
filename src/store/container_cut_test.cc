#include "store/container_cut.h"

#include <gtest/gtest.h>

#include "codec/crc32.h"
#include "codec/registry.h"
#include "io/fault_file_system.h"
#include "store/container_record.h"
#include "store/container_test_lab.h"
#include "store/packed_content.h"

namespace stele::store {
namespace {

// At least so many bytes that shrink.
std::string LinesOf(std::size_t size) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < size; ++i) text += "line " + std::to_string(i * i) + "\n";
  return text;
}

Result<std::string> ReadPacked(PackedContent& packed, std::size_t piece_size) {
  std::string bytes;
  std::string piece(piece_size, '\0');
  for (;;) {
    const Result<std::size_t> read = packed.bytes->Read(piece);
    if (!read) return read.error();
    if (*read == 0) return bytes;
    bytes.append(piece, 0, *read);
  }
}

TEST(ContainerCut, W7_AContentComesOutAsItWasCompressed) {
  const codec::Registry codecs = codec::StandardRegistry();
  ContainerLab lab;
  const auto volume = lab.Make();
  const std::string text = LinesOf(3'000'000);
  int number = 0;
  for (const std::string& content :
       {std::string(), std::string("x"), text.substr(0, 300), text.substr(0, 20'000), text,
        NoiseOf(100'000, 1), NoiseOf(600'000, 2), NoiseOf(3'000'000, 3)}) {
    SCOPED_TRACE(content.size());
    const ContentKey key = StoreContent(*volume, content, std::to_string(++number))->key;
    for (const std::size_t piece_size : {7, 65'536, 4'000'000}) {
      if (piece_size == 7 && content.size() > 100'000) continue;
      Result<PackedContent> packed = volume->RetrievePacked(key);
      ASSERT_TRUE(packed) << packed.error().text;
      EXPECT_EQ(packed->coding, "gzip");
      EXPECT_EQ(packed->size, content.size());
      const Result<std::string> bytes = ReadPacked(*packed, piece_size);
      ASSERT_TRUE(bytes);
      EXPECT_EQ(packed->packed_size, bytes->size());
      const auto plain = codecs.Find("gzip")->Decompress(*bytes, content.size());
      ASSERT_TRUE(plain) << plain.error().text;
      EXPECT_EQ(*plain, content);
    }
  }
  EXPECT_LT(volume->RetrievePacked({"tomba", volume->signature().Of(text), 0})->packed_size,
            text.size() / 2);
}

Result<Stored> StorePacked(ContainerVolume& volume, std::string_view content,
                           const std::string& coding, std::string_view packed,
                           const std::string& operation) {
  StoreRequest request = RequestFor(volume.signature(), content, operation);
  request.packed = coding;
  io::MemorySource source(packed);
  return volume.Store(request, source);
}

TEST(ContainerCut, W7_AContentIsStoredAsItCame) {
  const codec::Registry codecs = codec::StandardRegistry();
  ContainerLab lab;
  const auto volume = lab.Make();
  const std::string text = LinesOf(2'000'000);
  codec::BlockDeflater deflater(2);
  int number = 0;
  for (const std::size_t size : {0, 10, 20'000, 1'000'000, 2'000'000}) {
    SCOPED_TRACE(size);
    for (const std::string way : {"ours", "gzip", "zstd"}) {
      const std::string content = way + text.substr(0, size);
      const std::string packed =
          way == "ours" ? PackGzip(content, deflater) : *codecs.Find(way)->Compress(content, 3);
      const std::string coding = way == "zstd" ? "zstd" : "gzip";
      const auto stored = StorePacked(*volume, content, coding, packed, std::to_string(++number));
      ASSERT_TRUE(stored) << stored.error().text;
      EXPECT_EQ(*ReadContent(*volume, stored->key), content);
      const bool taken_over = way == "ours" && size >= 20'000;
      Result<PackedContent> kept = volume->RetrievePacked(stored->key);
      if (taken_over) {
        EXPECT_EQ(*ReadPacked(*kept, 1000), packed);
      }
    }
  }
  EXPECT_TRUE(FindingsOf(*volume).empty());
}

// Contents that are kept in memory while they come, and those that go through a file.
class ContainerCutTest : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Memory, ContainerCutTest, testing::Values(1 << 20, 0),
                         testing::PrintToStringParamName());

TEST_P(ContainerCutTest, W7_WhatComesCompressedIsNotBelieved) {
  const codec::Registry codecs = codec::StandardRegistry();
  ContainerLab lab;
  lab.options.memory_bytes_max = GetParam();
  const auto volume = lab.Make();
  codec::BlockDeflater deflater(1);
  const std::string content(5000, 'x');
  const std::string good = PackGzip(content, deflater);
  int number = 0;
  const auto refused = [&](const std::string& coding, std::string_view packed) {
    const auto stored = StorePacked(*volume, content, coding, packed, std::to_string(++number));
    return !stored && stored.error().code == ErrorCode::kInvalid;
  };
  for (const std::size_t size : {4999, 5001, 6000, 50'000'000}) {
    for (const std::string coding : {"gzip", "zstd"}) {
      EXPECT_TRUE(refused(coding, *codecs.Find(coding)->Compress(std::string(size, 'x'), 1)));
    }
    EXPECT_TRUE(refused("gzip", PackGzip(std::string(size, 'x'), deflater)));
  }
  EXPECT_TRUE(refused("gzip", PackGzip(std::string(5000, 'y'), deflater)));
  EXPECT_TRUE(refused("gzip", good + "x"));
  EXPECT_TRUE(refused("br", good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(refused("gzip", std::string_view(good).substr(0, size))) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 0x04;
    const auto stored = StorePacked(*volume, content, "gzip", bad, std::to_string(++number));
    if (stored) {
      EXPECT_EQ(*ReadContent(*volume, stored->key), content) << at;
    }
  }
  // A last block that happens to end as if an empty one followed.
  const std::string trick = "abc" + std::string("\x03\0", 2);
  std::string member(RecordPacker::kGzipHeader);
  member += std::string("\x01\x05\0\xfa\xff", 5) + trick;
  member += EndOfMember(codec::Crc32(0, trick), trick.size()).substr(2);
  EXPECT_FALSE(TakeBlocks(member, trick.size()));
  const auto stored = StorePacked(*volume, trick, "gzip", member, "trick");
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_EQ(*ReadContent(*volume, stored->key), trick);
  EXPECT_TRUE(FindingsOf(*volume).empty());
  EXPECT_TRUE(lab.disk.List("v/temporary")->empty());
}

// Wherever the disk fails while it comes, a content is there as a whole or not at all.
TEST(ContainerCut, W7_AStreamWhoseDiskFailsLeavesNothingBehind) {
  const std::string content = LinesOf(200'000);
  codec::BlockDeflater deflater(1);
  const std::string packed = PackGzip(content, deflater);
  for (int fail_at = 1;; ++fail_at) {
    SCOPED_TRACE(fail_at);
    ContainerLab lab;
    lab.options.memory_bytes_max = 1000;
    lab.Make().reset();
    Result<Stored> stored = Error{ErrorCode::kIo, "not opened"};
    io::FaultFileSystem faults(lab.disk, fail_at);
    {
      const auto volume = lab.Open(faults);
      if (volume) stored = StorePacked(**volume, content, "gzip", packed, "1");
    }
    const auto volume = lab.Open();
    ASSERT_NE(volume, nullptr);
    EXPECT_TRUE(FindingsOf(*volume).empty());
    EXPECT_TRUE(lab.disk.List("v/temporary")->empty());
    const ContentKey key{"tomba", volume->signature().Of(content), 0};
    if (stored || volume->Stats()->blocks > 0) {
      EXPECT_EQ(*ReadContent(*volume, key), content);
    }
    if (HasFailure()) return;
    if (!faults.Fails()) break;
    ASSERT_LT(fail_at, 200);
  }
}

// However the bytes come, as a stream or at once, the same members are taken over.
TEST(ContainerCut, W7_AStreamIsPackedAndTakenOverAsTheWholeIs) {
  const std::string text = LinesOf(300'000);
  for (const std::size_t size : {0, 1, 5000, 65'536, 65'537, 300'000}) {
    const std::string content = text.substr(0, size);
    io::MemorySource plain(content);
    PackedSource packing(plain, content.size(), {"gzip", 1});
    std::string member;
    std::string piece(777, '\0');
    for (;;) {
      const Result<std::size_t> read = packing.Read(piece);
      ASSERT_TRUE(read);
      if (*read == 0) break;
      member.append(piece, 0, *read);
    }
    const auto taken = TakeBlocks(member, content.size());
    ASSERT_TRUE(taken) << size;
    EXPECT_EQ(taken->plain.view().substr(0, size), content);
    io::MemorySource source(member);
    StandingMember standing(source, content.size());
    DecodedSource decoded(standing, *WireCodec("gzip"), size + RecordPacker::kRecordEnd.size());
    std::string stood;
    for (;;) {
      const Result<std::size_t> read = decoded.Read(piece);
      ASSERT_TRUE(read) << read.error().text;
      if (*read == 0) break;
      stood.append(piece, 0, *read);
    }
    EXPECT_EQ(standing.taken_crc(), taken->crc);
    EXPECT_EQ(stood, content + std::string(RecordPacker::kRecordEnd));
  }
}

// Wherever the record is damaged: the content comes inflated, or as bytes that do not inflate to
// it, and never as a crash.
TEST(ContainerCut, W7_DamageIsForTheReaderToSee) {
  const codec::Registry codecs = codec::StandardRegistry();
  ContainerLab lab;
  auto volume = lab.Make();
  const std::string content = LinesOf(600);
  const ContentKey key = StoreContent(*volume, content, "1")->key;
  volume.reset();
  const std::string path = "v/containers/" + lab.Containers().front();
  const std::string good = *io::ReadFile(lab.disk, path);
  const RecordLocation location = [&] {
    const auto row = BlockIndex(lab.table).Find({key.signature, key.overflow});
    return (*row)->location;
  }();
  for (std::uint64_t at = 0; at < location.length; ++at) {
    std::string bad = good;
    bad[location.offset + at] ^= 0x10;
    ASSERT_TRUE(io::ReplaceFile(lab.disk, path, bad));
    auto file = lab.disk.OpenForReading(path);
    Result<std::optional<PackedContent>> cut = CutContent(
        std::shared_ptr<const io::ReadableFile>(*std::move(file)), location, content.size());
    ASSERT_TRUE(cut);
    if (!*cut) continue;
    const Result<std::string> bytes = ReadPacked(**cut, 1000);
    ASSERT_TRUE(bytes);
    const auto plain = codecs.Find("gzip")->Decompress(*bytes, content.size());
    EXPECT_TRUE(!plain || *plain == content) << at;  // some bits mean nothing
  }
}

}  // namespace
}  // namespace stele::store
