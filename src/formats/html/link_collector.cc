// References are compared as they are written, before anything costly happens to them: most links
// of a page repeat or are dropped by their first bytes. What remains is resolved once at the end,
// and then compared again, since different references may name the same URL.
#include "formats/html/link_collector.h"

#include <algorithm>
#include <cstring>

#include "formats/html/charset.h"
#include "formats/html/utf8.h"
#include "formats/url/url.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr std::size_t kBasesMax = 256;
constexpr std::size_t kChunkSize = 64 << 10;
constexpr std::size_t kFirstSlots = 512;

std::uint64_t Mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t HashOf(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = seed;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = Mix(hash, word);
  }
  std::uint64_t tail = 0;
  if (at < bytes.size()) std::memcpy(&tail, bytes.data() + at, bytes.size() - at);
  return Mix(Mix(hash, tail), bytes.size());
}

constexpr bool IsControlOrSpace(char c) { return static_cast<unsigned char>(c) <= 0x20; }

std::string_view TrimReference(std::string_view href) {
  while (!href.empty() && IsControlOrSpace(href.front())) href.remove_prefix(1);
  while (!href.empty() && IsControlOrSpace(href.back())) href.remove_suffix(1);
  return href;
}

bool IsFetchable(std::string_view scheme) {
  return EqualsIgnoreCase(scheme, "http") || EqualsIgnoreCase(scheme, "https") ||
         EqualsIgnoreCase(scheme, "ftp");
}

// True for "javascript:...", "mailto:...", "data:...": a scheme, and none that a crawler fetches.
// Line ends inside a scheme, which URLs may have, are left to the parser.
bool HasOtherScheme(std::string_view href) {
  if (!IsAsciiAlpha(href[0])) return false;
  std::size_t at = 1;
  while (at < href.size() &&
         (IsAsciiAlnum(href[at]) || href[at] == '+' || href[at] == '-' || href[at] == '.')) {
    ++at;
  }
  return at < href.size() && href[at] == ':' && !IsFetchable(href.substr(0, at));
}

std::size_t SlotCountFor(std::size_t entries) {
  std::size_t slots = kFirstSlots;
  while (slots < entries * 2) slots *= 2;
  return slots;
}

}  // namespace

struct LinkCollector::Entry {
  std::string_view href;
  std::string_view context;
  std::uint64_t hash;
  std::size_t offset;
  BaseId base;
  Hop hop;
  bool utf8;
  bool nofollow;
};

struct LinkCollector::Base {
  BaseId parent = 0;
  bool set = false;
  bool utf8 = false;
  std::string href{};
  std::optional<url::Url> url{};
};

LinkCollector::LinkCollector(std::string_view document, std::string_view url,
                             std::optional<Encoding> declared, const LinkLimits& limits)
    : document_(document), url_(url), encoding_(declared), limits_(limits), slots_(kFirstSlots) {
  bases_.emplace_back();
}

LinkCollector::~LinkCollector() = default;

BaseId LinkCollector::AddBase(BaseId parent) {
  if (bases_.size() >= kBasesMax) return parent;
  bases_.push_back({.parent = parent});
  return static_cast<BaseId>(bases_.size() - 1);
}

void LinkCollector::SetBase(BaseId base, std::string_view href, bool utf8) {
  if (base >= bases_.size() || bases_[base].set) return;
  bases_[base].set = true;
  if (href.size() > limits_.url_bytes_max) return;
  bases_[base].href = href;
  bases_[base].utf8 = utf8;
}

void LinkCollector::Add(const FoundLink& found) {
  std::string_view href = TrimReference(found.href);
  if (href.empty() || href[0] == '#' || HasOtherScheme(href)) return;
  const std::size_t fragment = href.substr(0, limits_.url_bytes_max + 1).find('#');
  if (fragment != std::string_view::npos) href = href.substr(0, fragment);
  if (href.size() > limits_.url_bytes_max) {
    ++too_long_;
    return;
  }
  const std::uint64_t seed = (std::uint64_t{found.base} << 8) |
                             (static_cast<std::uint64_t>(found.hop) << 1) | (found.utf8 ? 1u : 0u);
  Insert(href, found, HashOf(href, seed));
}

void LinkCollector::Insert(std::string_view href, const FoundLink& found, std::uint64_t hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && entry.href == href && entry.base == found.base &&
        entry.hop == found.hop && entry.utf8 == found.utf8) {
      entry.nofollow &= found.nofollow;  // one place that follows is enough
      return;
    }
  }
  const bool speculative = found.hop == Hop::kSpeculative;
  if (entries_.size() >= limits_.links_max ||
      (speculative && speculative_ >= limits_.speculative_links_max)) {
    ++left_out_;
    return;
  }
  speculative_ += speculative ? 1 : 0;
  entries_.push_back({.href = Keep(href),
                      .context = found.context,
                      .hash = hash,
                      .offset = found.offset,
                      .base = found.base,
                      .hop = found.hop,
                      .utf8 = found.utf8,
                      .nofollow = found.nofollow});
  slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  if (entries_.size() * 2 > slots_.size()) Grow();
}

void LinkCollector::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

// Bytes of the document stay where they are, others move into a chunk of our own.
std::string_view LinkCollector::Keep(std::string_view bytes) {
  const std::less_equal<const char*> not_after;
  if (not_after(document_.data(), bytes.data()) &&
      not_after(bytes.data() + bytes.size(), document_.data() + document_.size())) {
    return bytes;
  }
  if (bytes.size() > chunk_free_) {
    chunk_free_ = std::max(kChunkSize, bytes.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_free_));
    chunk_at_ = chunks_.back().get();
  }
  std::memcpy(chunk_at_, bytes.data(), bytes.size());
  const std::string_view kept(chunk_at_, bytes.size());
  chunk_at_ += bytes.size();
  chunk_free_ -= bytes.size();
  return kept;
}

// A URL's path goes to the server in UTF-8 whatever the page is in, but its query in the page's
// encoding, which is the bytes as they are: the URL parser percent-encodes them.
std::string_view LinkCollector::ToUtf8(std::string_view href, bool utf8, std::string& buffer) {
  if (utf8 || IsAscii(href)) return href;
  if (!encoding_) encoding_ = DetectEncoding(document_).encoding;
  if (*encoding_ == Encoding::kUtf8) return href;
  const std::size_t query = std::min(href.find('?'), href.size());
  if (!decoder_) decoder_.emplace(*encoding_);
  buffer.clear();
  decoder_->Decode(href.substr(0, query), buffer);
  decoder_->Finish(buffer);
  buffer.append(href.substr(query));
  return buffer;
}

void LinkCollector::ResolveBases() {
  Result<url::Url> document = url::Parse(url_);
  std::optional<url::Url> document_url;
  if (document) document_url = std::move(*document);
  for (std::size_t i = 0; i < bases_.size(); ++i) {
    Base& base = bases_[i];
    base.url = i == 0 ? document_url : bases_[base.parent].url;
    if (!base.set) continue;
    std::string buffer;
    Result<url::Url> own =
        url::Parse(ToUtf8(base.href, base.utf8, buffer), base.url ? &*base.url : nullptr);
    if (own && IsFetchable(own->scheme())) base.url = std::move(*own);
  }
}

// The links that come out, each once.
class LinkCollector::Resolved {
 public:
  explicit Resolved(std::size_t links) : slots_(SlotCountFor(links)) { links_.reserve(links); }

  // False: it is no URL.
  bool Add(const Entry& entry, std::string_view text, const url::Url* base, bool nofollow) {
    const Result<url::Url> url = url::Parse(text, base);
    if (!url) return false;
    if (!IsFetchable(url->scheme())) return true;
    const std::string_view href = url->href_without_fragment();
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = HashOf(href, static_cast<std::uint64_t>(entry.hop)) & mask;
    while (slots_[slot] != 0 &&
           (links_[slots_[slot] - 1].url != href || links_[slots_[slot] - 1].hop != entry.hop)) {
      slot = (slot + 1) & mask;
    }
    if (slots_[slot] != 0) {
      links_[slots_[slot] - 1].nofollow &= nofollow;
      return true;
    }
    links_.push_back({.url = std::string(href),
                      .hop = entry.hop,
                      .context = entry.context,
                      .offset = entry.offset,
                      .nofollow = nofollow});
    slots_[slot] = static_cast<std::uint32_t>(links_.size());
    return true;
  }

  std::vector<Link>& links() { return links_; }

 private:
  std::vector<Link> links_;
  std::vector<std::uint32_t> slots_;  // as those of the collector
};

LinkSummary LinkCollector::Finish(const LinkSink& sink) {
  ResolveBases();
  LinkSummary summary{
      .left_out = left_out_, .too_long = too_long_, .nofollow = nofollow_, .noindex = noindex_};
  const Result<url::Url> guess_base = url::Parse(guess_base_);
  Resolved resolved(entries_.size() + (guess_base ? speculative_ : 0));
  std::string buffer;
  for (const Entry& entry : entries_) {
    const std::optional<url::Url>& base = bases_[entry.base].url;
    const std::string_view text = ToUtf8(entry.href, entry.utf8, buffer);
    const bool nofollow = entry.nofollow || nofollow_;
    if (!resolved.Add(entry, text, base ? &*base : nullptr, nofollow)) ++summary.invalid;
    if (guess_base && entry.hop == Hop::kSpeculative) {
      resolved.Add(entry, text, &*guess_base, nofollow);
    }
  }
  summary.links = resolved.links().size();
  for (Link& link : resolved.links()) sink(std::move(link));
  return summary;
}

char HopLetter(Hop hop) {
  switch (hop) {
    case Hop::kNavigation:
      return 'L';
    case Hop::kEmbed:
      return 'E';
    case Hop::kRedirect:
      return 'R';
    case Hop::kSpeculative:
      return 'X';
  }
  return '?';
}

}  // namespace stele::html
