#include "crawl/known_documents.h"

#include <gmock/gmock.h>

#include "dedup/document_reader.h"
#include "io/memory_file_system.h"

namespace stele::crawl {
namespace {

TEST(KnownDocuments, D7_ADamagedIndexIsRefusedBeforeAnythingBegins) {
  io::MemoryFileSystem fs;
  std::string log;
  for (int i = 0; i < 1000; ++i) {
    log += "2006-03-01T00:00:00.000Z   200          1 http://a.is/" + std::to_string(i) +
           " L http://via/ image/png #001 20060301100000000+5 "
           "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - -\n";
  }
  ASSERT_TRUE(io::ReplaceFile(fs, "crawl.log", log));
  dedup::DigestIndexBuilder builder(fs, "index", {});
  const auto documents = dedup::ReadDocuments(fs, "crawl.log");
  ASSERT_TRUE(documents && builder.Add(**documents) && builder.Finish());
  DuplicateSettings settings;
  settings.match = Match::kAny;
  settings.index = "index";
  ASSERT_TRUE(KnownDocuments::Load(fs, settings));
  std::string bytes = *io::ReadFile(fs, "index");
  bytes[bytes.size() / 3] ^= 1;
  ASSERT_TRUE(io::ReplaceFile(fs, "index", bytes));
  const auto refused = KnownDocuments::Load(fs, settings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().text, ::testing::HasSubstr("index is damaged; build it again"));
}

}  // namespace
}  // namespace stele::crawl
