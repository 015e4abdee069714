#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/html/extract_links.h"
#include "formats/html/link_collector.h"

// For tests: links as short lines, "E http://a/b.png" with the hop's letter first.
namespace stele::html {

inline constexpr std::string_view kTestUrl = "http://example.org/dir/page.html";

inline std::vector<std::string> LinesOf(const LinkDocument& document,
                                        const LinkLimits& limits = {}) {
  std::vector<std::string> lines;
  ExtractLinks(
      document,
      [&lines](Link&& link) {
        lines.push_back(std::string(1, HopLetter(link.hop)) + " " + link.url);
      },
      limits);
  return lines;
}

inline std::vector<std::string> LinesOf(std::string_view content, std::string_view content_type) {
  return LinesOf({.url = kTestUrl, .content = content, .content_type = content_type});
}

// One extractor by itself.
inline std::vector<std::string> LinesBy(void (*extract)(const LinkSource&, LinkCollector&),
                                        std::string_view content) {
  const LinkLimits limits;
  LinkCollector links(content, kTestUrl, std::nullopt, limits);
  extract({.bytes = content}, links);
  std::vector<std::string> lines;
  links.Finish([&lines](Link&& link) {
    lines.push_back(std::string(1, HopLetter(link.hop)) + " " + link.url);
  });
  return lines;
}

}  // namespace stele::html
