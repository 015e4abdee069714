#include "store/compression.h"

#include <gtest/gtest.h>

namespace stele::store {
namespace {

TEST(CompressionTable, W7_TheFirstRuleThatFitsIsTaken) {
  const CompressionTable table({{"text/css", {"zstd", 3}},
                                {"text/*", {"gzip", 9}},
                                {"*+xml", {"deflate", 1}},
                                {"", {"zstd", 1}}});
  EXPECT_EQ(table.Choose("text/css"), (Compression{"zstd", 3}));
  EXPECT_EQ(table.Choose(" TEXT/Html ; charset=x"), (Compression{"gzip", 9}));
  EXPECT_EQ(table.Choose("image/svg+xml"), (Compression{"deflate", 1}));
  EXPECT_EQ(table.Choose(""), (Compression{"zstd", 1}));
  EXPECT_EQ(table.Choose("video/mp4"), (Compression{"identity", 0}));
  EXPECT_EQ(CompressionTable({{"*", {"gzip", 1}}}).Choose("video/mp4").codec, "gzip");
}

TEST(CompressionTable, W7_TextIsCompressedAndMediaAreNot) {
  const CompressionTable table;
  for (const char* type : {"text/html", "application/json", "application/atom+xml", ""}) {
    EXPECT_EQ(table.Choose(type).codec, "gzip") << type;
  }
  for (const char* type : {"image/jpeg", "application/zip", "font/woff2", "audio/mpeg"}) {
    EXPECT_EQ(table.Choose(type).codec, "identity") << type;
  }
}

TEST(CompressionTable, W7_ATableIsReadFromText) {
  const Result<CompressionTable> table = CompressionTable::Parse(
      "# pages\n\n  Text/HTML\tzstd  19 # small\ntext/*  gzip\r\n-  zstd 1\n*  identity");
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_EQ(table->rules().size(), 4u);
  EXPECT_EQ(table->Choose("text/html"), (Compression{"zstd", 19}));
  EXPECT_EQ(table->Choose("text/css"), (Compression{"gzip", 1}));
  EXPECT_EQ(table->Choose(""), (Compression{"zstd", 1}));
  EXPECT_EQ(table->Choose("video/mp4"), (Compression{"identity", 0}));
  EXPECT_TRUE(CompressionTable::Parse("")->rules().empty());
}

TEST(CompressionTable, W7_AWrongLineIsNamed) {
  for (const char* line : {"text/html", "text/html gzip 6 7", "text/html lzma", "text/html gzip 10",
                           "text/html zstd 0", "text/html identity 1", "text/html zstd x"}) {
    const Result<CompressionTable> table =
        CompressionTable::Parse(std::string("* gzip\n") + line + "\n");
    ASSERT_FALSE(table) << line;
    EXPECT_EQ(table.error().code, ErrorCode::kInvalid);
    EXPECT_TRUE(table.error().text.starts_with("line 2: ")) << table.error().text;
  }
}

}  // namespace
}  // namespace stele::store
