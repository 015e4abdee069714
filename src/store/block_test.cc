#include "store/block.h"

#include <gtest/gtest.h>

#include "codec/registry.h"
#include "io/posix_file_system.h"
#include "util/test_paths.h"

namespace stele::store {
namespace {

std::string Golden(const std::string& name) {
  io::PosixFileSystem fs;
  const Result<std::string> bytes = io::ReadFile(fs, SourcePath("src/store/golden/" + name));
  return bytes ? *bytes : "unreadable: " + bytes.error().text;
}

TEST(Block, W3_WritesTheGoldenFileOfVersion1) {
  const std::string content = "Once stored, twice referenced.\n";
  const BlockHeader header{"stele 0.1.0", "identity", content.size(), 2};
  EXPECT_EQ(FormatBlockHeader(header) + content, Golden("block-1-identity"));
}

TEST(Block, W3_ReadsTheGoldenFilesOfVersion1) {
  const Result<BlockHeader> stored = ParseBlockHeader(Golden("block-1-identity"));
  ASSERT_TRUE(stored);
  EXPECT_EQ(*stored, (BlockHeader{"stele 0.1.0", "identity", 31, 2}));
  const std::string gzip = Golden("block-1-gzip");
  const Result<BlockHeader> header = ParseBlockHeader(gzip);
  ASSERT_TRUE(header);
  const Result<std::string> content = codec::StandardRegistry()
                                          .Find(header->compression)
                                          ->Decompress(gzip.substr(kBlockHeaderSize), header->size);
  ASSERT_TRUE(content);
  EXPECT_EQ(content->size(), header->size);
  EXPECT_TRUE(content->starts_with("A page that repeats itself. "));
}

TEST(Block, W3_TheCounterStandsWhereItIsRewritten) {
  BlockHeader header{"stele 0.1.0", "zstd", UINT64_MAX, 1};
  std::string text = FormatBlockHeader(header);
  text.replace(kBlockReferencesOffset, kBlockReferencesDigits,
               FormatBlockReferences(kBlockReferencesMax));
  header.references = kBlockReferencesMax;
  ASSERT_TRUE(ParseBlockHeader(text));
  EXPECT_EQ(*ParseBlockHeader(text), header);
}

TEST(Block, W3_AnyChangedByteIsRefusedOrStillAHeaderThatWritesItself) {
  const std::string good = FormatBlockHeader({"stele 0.1.0", "gzip", 19200, 1});
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\0', ' ', '\n', '+', '7', 'x', '\xff'}) {
      std::string text = good;
      text[at] = byte;
      const Result<BlockHeader> header = ParseBlockHeader(text);
      if (header) {
        EXPECT_EQ(FormatBlockHeader(*header), text);
      } else {
        EXPECT_EQ(header.error().code, ErrorCode::kCorrupt);
      }
    }
  }
  EXPECT_FALSE(ParseBlockHeader(good.substr(0, kBlockHeaderSize - 1)));
  EXPECT_FALSE(ParseBlockHeader(""));
}

}  // namespace
}  // namespace stele::store
