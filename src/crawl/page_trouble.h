#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/crawl_log/line.h"
#include "formats/http/message.h"

// Pages that are probably not what a person would have seen. docs/crawling.md, "Reports".
namespace stele::crawl {

struct PageTrouble {
  enum class Kind {
    kChallenge,    // a riddle for robots in place of the page
    kNeedsScript,  // almost nothing, until scripts fill it
  };

  Kind kind = Kind::kChallenge;
  std::string why;  // in one word for the log: "Cloudflare", "root+noscript"

  friend bool operator==(const PageTrouble&, const PageTrouble&) = default;
};
std::string_view NameOf(PageTrouble::Kind kind);  // "challenge", "needs-script"

// `content` is HTML without content codings. Looks at its first bytes only, and no further than it
// must to see that all is well.
std::optional<PageTrouble> FindTrouble(int status, const http::Headers& headers,
                                       std::string_view content);

// The annotation in crawl.log, "challenge:Cloudflare", and back; there `why` is a sentence for
// people.
std::string AnnotationOf(const PageTrouble& trouble);
std::optional<PageTrouble> TroubleIn(const crawl_log::Line& line);

// What a person can do.
std::string_view RemedyFor(PageTrouble::Kind kind);

}  // namespace stele::crawl
