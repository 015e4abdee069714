#include "formats/html/hls_links.h"

#include "util/ascii.h"

namespace stele::html {
namespace {

// The URI="..." of a tag line; an attribute's name follows ':' or ','.
std::string_view UriAttribute(std::string_view line) {
  constexpr std::string_view kUri = "URI=\"";
  std::size_t at = 0;
  while ((at = line.find(kUri, at)) != std::string_view::npos) {
    const char before = at == 0 ? '#' : line[at - 1];
    at += kUri.size();
    if (before != ':' && before != ',' && before != ' ') continue;
    return line.substr(at, line.find('"', at) - at);
  }
  return {};
}

}  // namespace

void ExtractHlsLinks(const LinkSource& source, LinkCollector& links) {
  std::size_t at = 0;
  while (at < source.bytes.size()) {
    const std::size_t end = std::min(source.bytes.find('\n', at), source.bytes.size());
    std::string_view line = TrimSpace(source.bytes.substr(at, end - at));
    if (at == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    at = end + 1;
    if (line.starts_with("#")) line = line.starts_with("#EXT") ? UriAttribute(line) : "";
    if (line.empty()) continue;
    links.Add(
        {.href = line,
         .hop = Hop::kEmbed,
         .context = "hls",
         .offset = source.OffsetOf(static_cast<std::size_t>(line.data() - source.bytes.data())),
         .base = source.base,
         .utf8 = true});
  }
}

}  // namespace stele::html
