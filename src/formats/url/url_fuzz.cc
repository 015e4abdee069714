#include <cstddef>
#include <cstdint>

#include "formats/url/public_suffix.h"
#include "formats/url/url.h"
#include "util/check.h"

// The input is a base and a reference, divided by the first line break.
namespace {

using stele::Result;
using stele::url::Parse;
using stele::url::Url;

std::string Join(const Url& url) {
  std::string out(url.scheme());
  out += ':';
  if (url.has_host()) {
    out += "//";
    out += url.username();
    if (!url.password().empty()) (out += ':') += url.password();
    if (!url.username().empty() || !url.password().empty()) out += '@';
    out += url.host_and_port();
  } else if (url.path().starts_with("//") && !url.has_opaque_path()) {
    out += "/.";
  }
  out += url.path();
  if (url.has_query()) (out += '?') += url.query();
  if (url.has_fragment()) (out += '#') += url.fragment();
  return out;
}

void CheckUrl(const Url& url) {
  Check(Join(url) == url.href());
  for (char c : url.href()) Check(c >= 0x20 && c < 0x7F);
  Check(!url.is_special() || url.has_host());
  const Result<Url> again = Parse(url.href());
  Check(again.ok());
  Check(again->href() == url.href());
  Check(again->host() == url.host() && again->path() == url.path() && again->port() == url.port());
  const std::string_view domain = stele::url::RegisteredDomain(url.host());
  Check(url.host().ends_with(domain) && domain.empty() == url.host().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  const std::string_view reference = line == input.npos ? input : input.substr(line + 1);
  const Result<Url> alone = Parse(reference);
  if (alone) CheckUrl(*alone);
  if (line == input.npos) return 0;
  const Result<Url> base = Parse(input.substr(0, line));
  if (!base) return 0;
  CheckUrl(*base);
  const Result<Url> resolved = Parse(reference, &*base);
  if (resolved) CheckUrl(*resolved);
  const Result<Url> same = Parse("", &*base);
  if (same) Check(same->href() == base->href_without_fragment());
  return 0;
}
