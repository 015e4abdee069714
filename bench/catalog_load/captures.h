#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/capture.h"

// The captures that contenders are filled with, and the questions they are asked; the same for all.
namespace stele::bench {

struct Row {
  catalog::Capture capture;  // its texts are those below
  std::string url;
};

// Sixty monthly crawls of sites with 300 URLs each, 32 hosts at a time. How often a URL is captured
// follows Zipf's law: the URL of rank r has 1/r as many captures as the first, up to one in each
// crawl. A third of captures are unchanged. A few URLs are captured all the time: three of 500,000
// captures each among 20 million. With `urls`, these are captured in each of as many crawls as it
// takes, and nothing else.
class Crawls {
 public:
  explicit Crawls(std::uint64_t captures, std::uint64_t urls = 0);

  // The next ones, at most `count`; none at the end.
  void Next(std::size_t count, std::vector<Row>& rows);

  std::string Url(std::uint64_t number) const;
  std::string OftenUrl(std::uint64_t number) const;
  // Of all URLs but those that are captured all the time.
  std::uint64_t urls() const { return urls_; }
  std::uint64_t often_captures() const { return often_captures_; }
  static Timestamp begin();
  Timestamp end() const;

 private:
  std::uint64_t VisitedAt(std::uint64_t place) const;
  std::uint64_t PeriodOf(std::uint64_t number) const;
  bool IsDue(std::uint64_t number) const;
  void Describe(std::uint64_t number, bool often, Row& row);

  const std::uint64_t captures_;
  const bool regular_;
  const std::uint64_t often_urls_;
  const std::uint64_t often_captures_;  // of each
  const std::uint64_t urls_;
  std::uint64_t made_ = 0;
  std::uint64_t often_made_ = 0;
  std::uint64_t month_ = 0;
  std::uint64_t place_ = 0;  // of the month's crawl
  std::uint64_t offset_ = 0;
  std::vector<std::uint32_t> last_serial_;  // of each URL; 0: none
};

std::uint64_t Mix(std::uint64_t a, std::uint64_t b = 0);

// The fields of a capture as index files have them: URL, type, status, digest, length, offset,
// file.
std::string CdxFields(const catalog::Capture& capture);
std::string CdxjFields(const catalog::Capture& capture);

}  // namespace stele::bench
