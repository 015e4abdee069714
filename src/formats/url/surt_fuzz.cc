#include <cstddef>
#include <cstdint>

#include "formats/url/surt.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view url(reinterpret_cast<const char*>(data), size);
  const std::string key = stele::url::SurtKey(url);
  Check(!key.empty());
  for (char c : key) Check(c > 0x20 && c < 0x7F);
  // Spaces around a URL never matter, nor do line breaks within.
  if (!url.starts_with("filedesc")) {
    std::string padded = " \n";
    for (char c : url) (padded += c) += "\r\n";
    Check(stele::url::SurtKey(padded) == key);
  }
  Check(stele::url::SurtKey("http://h/" + stele::url::SurtHost(url)).starts_with("h)/"));
  return 0;
}
