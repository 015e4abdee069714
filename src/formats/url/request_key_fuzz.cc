#include <cstddef>
#include <cstdint>

#include "formats/url/request_key.h"
#include "formats/url/surt.h"
#include "util/check.h"

// The first line of the input is the content type, the rest the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  const std::string_view type = line == input.npos ? std::string_view{} : input.substr(0, line);
  const std::string_view body = line == input.npos ? input : input.substr(line + 1);
  const std::string url = stele::url::RequestUrl("http://a.com/?x", "POST", type, body);
  constexpr std::string_view kPrefix = "http://a.com/?x&__wb_method=POST";
  Check(url.starts_with(kPrefix));
  Check(url.size() <= kPrefix.size() + 1 + 4 * stele::url::kMaxBodyQueryCharacters);
  Check(stele::url::SurtKey(url).starts_with("com,a)/?"));
  return 0;
}
