#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "util/digest.h"

// A response of http://a.example/ in three segments, which are records to be put into files.
namespace stele::archive::testing {

inline constexpr const char* kSegmentedDate = "2004-05-30T01:02:03Z";
inline constexpr const char* kSegmentedPayload = "one two three";
inline constexpr const char* kSegmentedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

inline std::string SegmentRecord(std::string_view fields, std::string_view block) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: {}\r\n{}Content-Length: "
      "{}\r\n\r\n{}\r\n\r\n",
      kSegmentedDate, fields, block.size(), block);
}

// `fields` are lines that end in CRLF, those of digests say.
inline std::string FirstSegment(std::string_view fields = "",
                                std::string_view head = kSegmentedHead,
                                std::string_view begin = "one ") {
  return SegmentRecord(
      fmt::format("WARC-Type: response\r\nWARC-Record-ID: <urn:s:1>\r\nWARC-Segment-Number: 1\r\n"
                  "Content-Type: application/http; msgtype=response\r\n{}",
                  fields),
      fmt::format("{}{}", head, begin));
}
inline std::string SecondSegment(std::string_view block = "two ") {
  return SegmentRecord(
      "WARC-Type: continuation\r\nWARC-Record-ID: <urn:s:2>\r\nWARC-Segment-Origin-ID: "
      "<urn:s:1>\r\nWARC-Segment-Number: 2\r\n",
      block);
}
inline std::string ThirdSegment(std::string_view block = "three", std::size_t total_length = 57) {
  return SegmentRecord(fmt::format("WARC-Type: continuation\r\nWARC-Record-ID: <urn:s:3>\r\n"
                                   "WARC-Segment-Origin-ID: <urn:s:1>\r\nWARC-Segment-Number: 3\r\n"
                                   "WARC-Segment-Total-Length: {}\r\n",
                                   total_length),
                       block);
}

// The line of a head that claims this payload.
inline std::string PayloadClaim(std::string_view payload,
                                DigestAlgorithm algorithm = DigestAlgorithm::kSha1) {
  return fmt::format("WARC-Payload-Digest: {}\r\n", DigestOf(algorithm, payload).Labelled());
}

}  // namespace stele::archive::testing
