#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "formats/url/surt.h"
#include "util/ascii.h"
#include "util/test_paths.h"

// Keys against those in index files that other programs wrote, and against urlcanon's cases.
namespace stele::url {
namespace {

using nlohmann::json;

struct IndexLine {
  std::string key;
  std::string url;
};

// The key and URL columns of a CDX or CDXJ file.
std::vector<IndexLine> ReadIndex(const std::string& text) {
  std::vector<IndexLine> lines;
  for (std::string_view line : Split(text, '\n')) {
    const auto fields = Split(line, ' ');
    if (fields.size() < 3 || fields[0].empty()) continue;
    std::string url(fields[2]);
    if (url.starts_with('{')) {
      const std::size_t object = line.find('{');
      url = json::parse(line.substr(object)).value("url", "");
    }
    lines.push_back({std::string(fields[0]), std::move(url)});
  }
  return lines;
}

// Files whose keys are something else, with the reason; "" for all others.
std::string_view WhyKeysDiffer(const std::string& file) {
  if (file == "example-non-surt.cdx") return "keys are plain canonical URLs";
  if (file == "example-arc-test.cdx")
    return "keys were edited: com,example,test,arc for example.com";
  if (file == "hello-world.warc.cdx")
    return "another tool writes metadata://host as metadata)/host";
  if (file.starts_with("post-test"))
    return "keys hold the body of the request; see request_key_test";
  return {};
}

TEST(SurtData, KeysEqualTheKeyColumnsOfRealIndexes) {
  const std::string root = SamplePath("warc-samples");
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "no foreign sample data at " << root;
  int compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension();
    if (extension != ".cdx" && extension != ".cdxj") continue;
    const std::string name = entry.path().filename();
    const auto text =
        ReadSample("warc-samples/" + entry.path().parent_path().filename().string() + "/" + name);
    ASSERT_TRUE(text) << entry.path();
    int different = 0;
    for (const IndexLine& line : ReadIndex(*text)) {
      const bool equal = SurtKey(line.url) == line.key;
      different += equal ? 0 : 1;
      compared += equal ? 1 : 0;
      if (WhyKeysDiffer(name).empty()) {
        EXPECT_EQ(SurtKey(line.url), line.key) << name << " " << line.url;
      }
    }
    EXPECT_EQ(different > 0, !WhyKeysDiffer(name).empty()) << name;
  }
  EXPECT_GT(compared, 350);
}

// Where urlcanon's canonical URL has another key than its source, with the reason; "" elsewhere.
std::string_view WhyUrlcanonDiffers(std::string_view url) {
  if (url == "http://\x01\u0080.com/") return "stands for the byte 0x80, which JSON cannot hold";
  if (url == "\u00e2\u0098\u0083.com") return "stands for the bytes of U+2603, read as Latin-1";
  if (url.find("&jsessionid=a63098d96360$B0$D9$A") != url.npos)
    return "a jsessionid of another form";
  if (url.find("foo?&") != url.npos || url.find("foo?c=5&&") != url.npos) {
    return "the Wayback tools keep empty arguments";
  }
  if (url.find("/;jsessionid=") != url.npos) return "the Wayback tools strip it from queries only";
  return {};
}

// A canonical URL has the key of its source. Returns the cases where it has not.
std::string Disagreements(const json& cases) {
  std::string wrong;
  for (const auto& [url, canonical] : cases.items()) {
    const std::string expected = SurtKey(canonical.get<std::string>());
    const bool equal = SurtKey(url) == expected;
    if (equal == WhyUrlcanonDiffers(url).empty()) continue;
    wrong += url + " " + SurtKey(url) + " " + expected + "\n";
  }
  return wrong;
}

TEST(SurtData, CanonicalUrlsOfUrlcanonHaveTheKeyOfTheirSource) {
  const auto text = ReadSample("url/surt.json");
  if (!text) GTEST_SKIP() << "no foreign sample data at " << SamplePath("url");
  const json cases = json::parse(*text);
  EXPECT_EQ(Disagreements(cases["Canonicalizer.DefaultIA"]), "");
  EXPECT_EQ(Disagreements(cases["Canonicalizer.IA"]), "");
  EXPECT_EQ(Disagreements(cases["google"]), "");
  EXPECT_EQ(Disagreements(cases["googleSupplementalFromSurt"]), "");
  for (const auto& [url, key] : cases["defaultIASurt"].items()) {
    EXPECT_EQ(SurtKey(url), key.get<std::string>()) << url;
  }
  for (const auto& [query, sorted] : cases["alphaRorderQuery"].items()) {
    if (query.empty()) continue;
    EXPECT_EQ(SurtKey("http://h/?" + query), "h)/?" + sorted.get<std::string>());
  }
  for (const auto& [host, massaged] : cases["massageHost"].items()) {
    EXPECT_EQ(SurtHost(host), SurtHost(massaged.get<std::string>()));
  }
  for (const auto& [path, stripped] : cases["stripPathSessionId"].items()) {
    EXPECT_EQ(SurtKey("http://h" + path), SurtKey("http://h" + stripped.get<std::string>()));
  }
}

// ssurt.json (an order that keeps the scheme) and semantic_precise.json (a canonicaliser that keeps
// "www", case and arguments) define other forms. aggressive.json folds what our key folds.
TEST(SurtData, AggressiveCanonicalUrlsHaveTheKeyOfTheirSource) {
  const auto text = ReadSample("url/aggressive.json");
  if (!text) GTEST_SKIP() << "no foreign sample data at " << SamplePath("url");
  const json cases = json::parse(*text);
  EXPECT_EQ(Disagreements(cases), "");
}

}  // namespace
}  // namespace stele::url
