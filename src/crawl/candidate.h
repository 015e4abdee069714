#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.h"

namespace stele::crawl {

// A URL that a crawl came to, and how.
struct Candidate {
  std::string url;  // absolute, http or https, without fragment
  std::string via;  // the page that named it; empty for a seed
  // The way from the seed, a letter for each hop as in crawl logs: L for a link, E for what a page
  // embeds, R for a redirect, X for what only looks like a URL, I for what no page names, M for a
  // sitemap.
  std::string hops;
  std::string source;       // the seed
  bool seed = false;        // given by a person, or where such a one was redirected to
  std::uint32_t tries = 0;  // fetches that failed
  std::uint32_t waits = 0;  // answers that asked for patience
  bool links_only = false;  // it is kept; it is asked for once more for where it leads

  // Links on the way.
  std::size_t depth() const;
  // Hops since the last page, where that page needs it: "LLEE" has two. 0: it is itself a page.
  std::size_t embed_hops() const;
  bool is_page() const { return embed_hops() == 0; }
  // What a page embeds, or where such a one was redirected to.
  bool is_embed() const;
  // Asked for because many sites have it: no page named it. Or where such a one was redirected to.
  bool is_inferred() const;
  // Asked for as a sitemap, or where such a one was redirected to.
  bool is_sitemap() const;

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// The lower one is fetched first: seeds, then what pages need, then links by their depth.
std::uint8_t PriorityOf(const Candidate& candidate);

std::string EncodeCandidate(const Candidate& candidate);
// Errors: kCorrupt.
Result<Candidate> DecodeCandidate(std::string_view bytes);

// Two URLs with the same key are one for a crawl: session ids are taken out, nothing else is.
std::string SeenKey(std::string_view url);
// A redirect to the same page with a session id in its URL, from one without: servers begin
// sessions so, and what has no id is redirected again. It is followed.
bool BeginsSession(std::string_view from, std::string_view to);
// What a candidate is known by: SeenKey(), or the URL itself where a session begins.
std::string SeenKeyOf(const Candidate& candidate);

}  // namespace stele::crawl
