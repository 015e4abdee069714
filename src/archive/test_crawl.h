#pragma once

#include <fmt/format.h>

#include <string>

#include "archive/run_writer.h"

// Captures as a crawler brings them.
namespace stele::archive::testing {

// 2026-11-16T10:00:00Z and some milliseconds.
inline Timestamp CrawlTime(std::int64_t milliseconds) { return {1794823200000 + milliseconds}; }

inline std::string ResponseText(const std::string& body, const std::string& type = "text/html") {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", type,
                     body.size(), body);
}

// A page that was fetched at CrawlTime(number).
inline CrawledCapture Fetched(int number, const std::string& body) {
  CrawledCapture capture;
  capture.url = fmt::format("http://site.example/{}", number);
  capture.time = CrawlTime(number);
  capture.ip_address = "192.0.2.1";
  capture.request =
      WireMessage::InMemory(fmt::format("GET /{} HTTP/1.1\r\nHost: site.example\r\n\r\n", number));
  capture.response = WireMessage::InMemory(ResponseText(body));
  capture.metadata = {{"via", "http://site.example/"}, {"hopsFromSeed", "L"}};
  return capture;
}

}  // namespace stele::archive::testing
