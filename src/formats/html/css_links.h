#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "formats/html/link_collector.h"

namespace stele::html {

// A reference as it stands in a style sheet, with its escapes.
struct CssReference {
  std::string_view text;  // without quotes
  std::size_t at = 0;     // of its first byte
  bool is_import = false;
};

// All references of a style sheet, in their order. Takes time linear in its size.
void FindCssReferences(std::string_view css,
                       const std::function<void(const CssReference& reference)>& found);

// A style sheet, a <style> element or a style attribute: url(), @import, image-set() and the
// `src` of AlphaImageLoader filters, with CSS escapes undone. @namespace and @charset name no
// resources. All are kEmbed, in context "css" or "css/@import".
void ExtractCssLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
