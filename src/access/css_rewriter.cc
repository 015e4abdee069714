#include "access/css_rewriter.h"

#include "formats/html/css_links.h"

namespace stele::access {

std::string RewriteCss(std::string_view css, const UrlRewriter& urls) {
  std::string out;
  out.reserve(css.size() + css.size() / 4);
  std::size_t done = 0;
  html::FindCssReferences(css, [&](const html::CssReference& reference) {
    const std::optional<Rewritten> rewritten =
        urls.Rewrite(reference.text, reference.is_import ? "cs_" : "im_");
    if (!rewritten) return;
    const std::size_t space = reference.text.find_first_not_of(" \t\r\n\f");
    const std::size_t at = reference.at + (space == std::string_view::npos ? 0 : space);
    out.append(css, done, at - done);
    done = at;
    if (rewritten->replacement) {
      out += *rewritten->replacement;
      done = reference.at + reference.text.size();
    } else {
      out += rewritten->insert;
    }
  });
  out.append(css, done);
  return out;
}

}  // namespace stele::access
