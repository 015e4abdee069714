#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "access/html_rewriter.h"
#include "util/check.h"

// How the input is cut into pieces does not matter. The first byte says how to cut.
namespace {

std::string Rewrite(std::string_view page, std::string_view url, std::size_t piece) {
  stele::access::UrlRewriter urls("/web/20140126200624", url);
  stele::access::HtmlRewriter rewriter(urls, "");
  std::string out;
  while (!page.empty()) {
    rewriter.Feed(page.substr(0, piece), out);
    page.remove_prefix(std::min(piece, page.size()));
  }
  rewriter.Finish(out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view page(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] == 0 ? 1 : data[0];
  const std::string whole = Rewrite(page, "http://a.org/x/", size);
  Check(Rewrite(page, "http://a.org/x/", piece) == whole);
  return 0;
}
