#include "archive/archive_config.h"

#include <gtest/gtest.h>

namespace stele::archive {
namespace {

TEST(ArchiveConfig, ComesBackAsItWasWritten) {
  ArchiveConfig config;
  config.title = "A \"quoted\" title\nof two lines";
  config.rights = "© somebody";
  config.volumes = {{.name = "main", .path = ""},
                    {.name = "old", .path = "/mnt/old", .writable = false},
                    {.name = "far",
                     .path = "",
                     .connector = "connector.xml",
                     .token_file = "token",
                     .owner = "crawls"}};
  const Result<ArchiveConfig> parsed = ParseArchiveConfig(FormatArchiveConfig(config), "x");
  ASSERT_TRUE(parsed) << parsed.error().text;
  EXPECT_EQ(*parsed, config);
}

TEST(ArchiveConfig, SaysInWhichLineWhatIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"title = 3\n", "a.toml, line 1: title is a text in quotes"},
      {"\ncolour = \"red\"\n", "a.toml, line 2: nothing is called colour here"},
      {"title = \"x\n", "a.toml, line 1: "},
      {"volume = 1\n", "a.toml, line 1: volumes are given as [[volume]]"},
      {"[[volume]]\nname = \"A B\"\n", "a.toml, line 1: a volume has a name"},
      {"[[volume]]\nname = \"a\"\nsize = 3\n", "a.toml, line 3: a volume has name, path"},
      {"[[volume]]\nname = \"a\"\nwritable = 1\n", "a.toml, line 3: writable is true or false"},
      {"[[volume]]\nname = \"a\"\n[[volume]]\nname = \"a\"\n", "line 3: volume a is there twice"},
      {"[[volume]]\nname = \"a\"\nowner = \"b\"\n", "token-file and owner are for volumes with"},
      {"title = \"x\"\n", "a.toml: there is no volume"},
  };
  for (const auto& [text, complaint] : wrong) {
    const Result<ArchiveConfig> parsed = ParseArchiveConfig(text, "a.toml");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
    EXPECT_NE(parsed.error().text.find(complaint), std::string::npos) << parsed.error().text;
  }
}

}  // namespace
}  // namespace stele::archive
