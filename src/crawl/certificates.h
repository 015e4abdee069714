#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "net/fetch.h"

namespace stele::crawl {

// What is written about the certificates of servers: docs/crawling.md, "What is written". Each
// chain is written whole once, with the first capture that it came with. Thread-safe.
class Certificates {
 public:
  // Fields for the `metadata` record of a capture; none where there was no TLS (null).
  std::vector<std::pair<std::string, std::string>> FieldsFor(const net::TlsFacts* tls);

 private:
  std::mutex mutex_;  // of the following
  std::unordered_set<std::string> written_;
};

// The certificates of a chain in PEM, each in base64 on one line.
std::vector<std::string> CertificatesOf(std::string_view pem);

}  // namespace stele::crawl
