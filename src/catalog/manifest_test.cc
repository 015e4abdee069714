#include "catalog/manifest.h"

#include <gtest/gtest.h>

namespace stele::catalog {
namespace {

Manifest ExampleManifest() {
  Manifest manifest;
  manifest.next_file = 12;
  manifest.first_log = 7;
  manifest.runs = {{11, 0}, {8, 1}};
  manifest.segments = {{200405, 10, 0}, {200405, 3, 2}, {200406, 9, 0}};
  manifest.pisa = {4, 6};
  manifest.loose = {11, 5};
  manifest.dropped = {{200404, 9}};
  return manifest;
}

// As it is in docs/formats/location.md; other versions of Stele read it.
constexpr const char* kGolden =
    "STELE-CATALOG 3\n"
    "sum 1eb9009488c3d277\n"
    "next-file 12\n"
    "first-log 7\n"
    "run 11 0\n"
    "run 8 1\n"
    "segment 200405 10 0\n"
    "segment 200405 3 2\n"
    "segment 200406 9 0\n"
    "pisa 4\n"
    "pisa 6\n"
    "loose 11\n"
    "loose 5\n"
    "dropped 200404 9\n";

TEST(Manifest, P1_IsATextThatComesBack) {
  EXPECT_EQ(FormatManifest(ExampleManifest()), kGolden);
  const Result<Manifest> manifest = ParseManifest(kGolden);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(*manifest, ExampleManifest());
  EXPECT_EQ(*ParseManifest(FormatManifest(Manifest())), Manifest());
}

TEST(Manifest, P1_AnotherVersionIsCalledSo) {
  std::string text = kGolden;
  text[14] = '1';
  EXPECT_EQ(ParseManifest(text).error().text, "another version of Stele made this catalog");
}

TEST(Manifest, P1_AnyChangeIsNoticed) {
  const std::string text = kGolden;
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(ParseManifest(flipped)) << bit;
  }
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ParseManifest(text.substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace stele::catalog
