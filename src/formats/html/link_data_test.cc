#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "formats/html/link_testing.h"
#include "util/test_paths.h"

namespace stele::html {
namespace {

using ::testing::Contains;
using ::testing::UnorderedElementsAre;

std::string Between(const std::string& text, std::size_t from, std::string_view mark,
                    std::string_view end) {
  const std::size_t start = text.find(mark, from) + mark.size();
  return text.substr(start, text.find(end, start) - start);
}

// The links of each response in an uncompressed WARC file, by the response's URL; of two with one
// URL, the last.
std::map<std::string, std::vector<std::string>> LinksOfWarc(const std::string& warc) {
  std::map<std::string, std::vector<std::string>> links;
  for (std::size_t at = warc.find("HTTP/1.1 200"); at != std::string::npos;
       at = warc.find("HTTP/1.1 200", at + 1)) {
    const std::string url =
        Between(warc, warc.rfind("WARC-Target-URI: ", at), "WARC-Target-URI: ", "\r\n");
    const std::string type = Between(warc, at, "Content-Type: ", "\r\n");
    const std::string body = Between(warc, at, "\r\n\r\n", "\r\n\r\nWARC/1");
    links[url] = LinesOf({.url = url, .content = body, .content_type = type});
  }
  return links;
}

TEST(LinkData, FindsTheLinksOfForeignTestPages) {
  const std::string path = SamplePath("warc-samples/webarchive-commons/link-extraction-test.warc");
  std::ifstream file(path, std::ios::binary);
  if (!file) GTEST_SKIP() << "no foreign sample data at " << path;
  const std::string warc(std::istreambuf_iterator<char>(file), {});
  const auto links = LinksOfWarc(warc);
  EXPECT_THAT(
      links.at("http://www.example.com/html4.html"),
      UnorderedElementsAre(
          "R http://www.example.com/redirected.html", "E http://www.example.com/background.jpg",
          "L http://www.example.com/a-href.html", "E http://www.example.com/image.png",
          "E http://www.example.com/image.gif", "L http://example.com/image-description.html",
          "E http://www.example.com/helloworld.swf", "L http://www.example.com/shakespeare.html",
          "L http://www.example.com/shakespeare-long.html"));
  EXPECT_THAT(links.at("http://www.example.com/link-extraction-test-html5-video.html"),
              UnorderedElementsAre("L http://www.example.com/video.html",
                                   "L http://www.example.com/video.rss",
                                   "E https://archive.org/download/WebmVp8Vorbis/webmvp8.gif",
                                   "E https://archive.org/download/WebmVp8Vorbis/webmvp8.webm",
                                   "E https://archive.org/download/WebmVp8Vorbis/webmvp8_512kb.mp4",
                                   "E https://archive.org/download/WebmVp8Vorbis/webmvp8.ogv"));
  EXPECT_THAT(links.at("http://www.example.com/poor_html5.html"),
              UnorderedElementsAre("L http://www.example.com/"));
  EXPECT_THAT(links.at("http://www.example.com/fb-video.html"),
              Contains("X http://connect.facebook.net/en_US/sdk.js"));
  EXPECT_THAT(links.at("http://www.example.com/data-href.examples.html"),
              Contains("X http://www.example.com/blue.css"));
  EXPECT_THAT(links.at("http://www.example.com/fb-social-plugins.html"),
              Contains("X http://example.com/location/href/2.html"));
}

}  // namespace
}  // namespace stele::html
