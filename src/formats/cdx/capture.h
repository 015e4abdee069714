#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stele::cdx {

// One line of a CDX or CDXJ file: where one capture of one URL lies. Texts are as in the file; an
// empty one stands for "-", or for a name that is missing.
struct Capture {
  std::string key;        // N: sort key, normally a SURT
  std::string timestamp;  // b: 14 digits, or 17
  std::string url;        // a
  std::string mime;       // m
  std::string status;     // s
  std::string digest;     // k
  std::string redirect;   // r
  std::string meta;       // M
  std::string length;     // S: of the compressed record
  std::string offset;     // V
  std::string filename;   // g
  // What else stands in the line: other letters of a CDX legend, other names of a CDXJ object
  // (their values as JSON text).
  std::vector<std::pair<std::string, std::string>> others;

  friend bool operator==(const Capture&, const Capture&) = default;
};

// The order of index files: bytes of the key, then the timestamp, then where it lies.
bool operator<(const Capture& a, const Capture& b);

}  // namespace stele::cdx
