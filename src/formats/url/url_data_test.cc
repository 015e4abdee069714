#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "formats/url/host.h"
#include "formats/url/url.h"
#include "util/test_paths.h"

// The parser against cases written by others: the web-platform-tests of 2017 and urlcanon's files.
namespace stele::url {
namespace {

using nlohmann::json;

// As the standard's `search` and `hash` give them: nothing where the part is empty.
std::string WithMark(std::string_view mark, std::string_view part) {
  std::string out;
  if (!part.empty()) out.append(mark).append(part);
  return out;
}

// What the copy of 2017 says and today's standard does not, by input, with today's result
// (nullptr: failure).
const std::map<std::string, const char*>& ChangedSince2017() {
  static const std::map<std::string, const char*> changed = {
      // A space in a fragment is percent-encoded (2018).
      {"http://f:21/ b ? d # e ", "http://f:21/%20b%20?%20d%20#%20e"},
      {"lolscheme:x x#x x", "lolscheme:x x#x%20x"},
      {"http://www.google.com/foo?bar=baz# \u00bb", "http://www.google.com/foo?bar=baz#%20%C2%BB"},
      {"data:test# \u00bb", "data:test#%20%C2%BB"},
      // gopher is no special scheme any more (2020).
      {"gopher:/example.com/", "gopher:/example.com/"},
      {"gopher:example.com/", "gopher:example.com/"},
      {"gopher://foo:70/", "gopher://foo:70/"},
      {"gopher://foo:443/", "gopher://foo:443/"},
      // '<', '>', '^' and '|' are forbidden host code points (2020, 2021).
      {"sc://\x1f!\"$&'()*+,-.;<=>^_`{|}~/", nullptr},
      // A host whose last label is a number must be an IPv4 address (2021).
      {"http://256.256.256.256.256", nullptr},
  };
  return changed;
}

void ExpectParts(const Url& url, const json& expected) {
  EXPECT_EQ(std::string(url.scheme()) + ":", expected["protocol"].get<std::string>());
  EXPECT_EQ(url.username(), expected["username"].get<std::string>());
  EXPECT_EQ(url.password(), expected["password"].get<std::string>());
  EXPECT_EQ(url.host_and_port(), expected["host"].get<std::string>());
  EXPECT_EQ(url.host(), expected["hostname"].get<std::string>());
  EXPECT_EQ(url.port() ? std::to_string(*url.port()) : "", expected["port"].get<std::string>());
  EXPECT_EQ(url.path(), expected["pathname"].get<std::string>());
  EXPECT_EQ(WithMark("?", url.query()), expected["search"].get<std::string>());
  EXPECT_EQ(WithMark("#", url.fragment()), expected["hash"].get<std::string>());
  // Origins have their host in ASCII since 2018; the copy of 2017 writes it in Unicode.
  const std::string origin = expected.value("origin", "");
  if (!origin.empty() && std::all_of(origin.begin(), origin.end(), [](char c) { return c > 0; })) {
    EXPECT_EQ(url.origin(), origin);
  }
}

TEST(UrlData, EveryWebPlatformCaseGivesItsParts) {
  const auto text = ReadSample("url/urltestdata.json");
  if (!text) GTEST_SKIP() << "no foreign sample data at " << SamplePath("url");
  int cases = 0;
  const json file = json::parse(*text);
  for (const json& expected : file) {
    if (!expected.is_object()) continue;
    ++cases;
    const std::string input = expected["input"];
    SCOPED_TRACE("input " + input + " base " + expected["base"].get<std::string>());
    const Result<Url> base = Parse(expected["base"].get<std::string>());
    ASSERT_TRUE(base);
    const Result<Url> url = Parse(input, &*base);
    const auto changed = ChangedSince2017().find(input);
    if (changed != ChangedSince2017().end()) {
      EXPECT_EQ(url ? url->href() : "failure", changed->second ? changed->second : "failure");
      continue;
    }
    if (expected.contains("failure")) {
      EXPECT_FALSE(url) << url->href();
      continue;
    }
    EXPECT_TRUE(url) << url.error().text;
    if (!url) continue;
    EXPECT_EQ(url->href(), expected["href"].get<std::string>());
    ExpectParts(*url, expected);
  }
  EXPECT_GT(cases, 400);
}

// Where urlcanon, which accepts everything, answers something else than the standard. Empty where
// the case agrees, else the reason.
std::string_view WhyUrlcanonDiffers(std::string_view input, std::string_view expected) {
  if (!input.starts_with("foo") && expected.find("://%/") != expected.npos)
    return "'%' is forbidden in a domain";
  if (expected.find("//0.0.0.0/a/b") != expected.npos) return "dots alone are no IPv4 address";
  if (input == "http://09/") return "a number that is no IPv4 number is an error";
  if (input == "http://info@merseburger.de%20/") return "a space is forbidden in a domain";
  if (input == "http://\u00e2\u0098\u0083.net/") return "U+0098 is not allowed by UTS 46";
  if (input.starts_with("lolscheme:")) return "a space in a fragment is percent-encoded";
  if (input.starts_with("www.google.com")) return "there is no scheme";
  return {};
}

TEST(UrlData, SupplementalCasesOfUrlcanon) {
  const auto text = ReadSample("url/supplemental_whatwg.json");
  if (!text) GTEST_SKIP() << "no foreign sample data at " << SamplePath("url");
  const json cases = json::parse(*text);
  for (const auto& [input, expected] : cases.items()) {
    const Result<Url> url = Parse(input);
    const bool agrees = url && url->href() == expected.get<std::string>();
    const std::string_view why = WhyUrlcanonDiffers(input, expected.get<std::string>());
    EXPECT_EQ(agrees, why.empty()) << input << " " << expected << " " << why;
  }
}

TEST(UrlData, NumbersInOddBasesAreIpv4Addresses) {
  const auto text = ReadSample("url/funky_ipv4.json");
  if (!text) GTEST_SKIP() << "no foreign sample data at " << SamplePath("url");
  const json cases = json::parse(*text);
  for (const auto& [input, expected] : cases.items()) {
    const Result<Url> url = Parse("http://" + input + "/");
    if (expected.is_null()) {
      EXPECT_FALSE(url && IsIpAddress(url->host())) << input;
    } else {
      EXPECT_EQ(url ? url->host() : "failure", expected.get<std::string>()) << input;
    }
  }
}

TEST(UrlData, DotSegmentsAreResolved) {
  const auto text = ReadSample("url/path_dots.json");
  if (!text) GTEST_SKIP() << "no foreign sample data at " << SamplePath("url");
  const json cases = json::parse(*text);
  for (const auto& [input, kept] : cases["special"].items()) {
    // The file tests dots alone and leaves backslashes, which the standard turns into slashes.
    std::string expected = kept;
    std::replace(expected.begin(), expected.end(), '\\', '/');
    const Result<Url> url = Parse("http://h" + input);
    EXPECT_EQ(url ? url->path() : "failure", expected) << input;
  }
  for (const auto& [input, expected] : cases["nonspecial"].items()) {
    if (!input.starts_with('/')) continue;  // behind a host this would be part of the host
    const Result<Url> url = Parse("foo://h" + input);
    EXPECT_EQ(url ? url->path() : "failure", expected.get<std::string>()) << input;
  }
}

TEST(UrlData, ParsingTheResultAgainChangesNothing) {
  const auto text = ReadSample("url/idempotence.json");
  if (!text) GTEST_SKIP() << "no foreign sample data at " << SamplePath("url");
  const json cases = json::parse(*text);
  for (const json& input : cases) {
    const Result<Url> once = Parse(input.get<std::string>());
    if (!once) continue;  // urlcanon accepts everything, the standard does not
    const Result<Url> twice = Parse(once->href());
    ASSERT_TRUE(twice) << once->href();
    EXPECT_EQ(twice->href(), once->href());
  }
}

}  // namespace
}  // namespace stele::url
