// Bytes go through gzip, if they begin so, and then either to the lines of a text sitemap or to the
// XML scanner. An entry (a url, a sitemap, an item) keeps its links until it ends, because its date
// often stands behind them.
#include "formats/sitemap/sitemap.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "codec/registry.h"
#include "formats/http/content_decoder.h"
#include "formats/sitemap/xml_scanner.h"
#include "util/ascii.h"

namespace stele::sitemap {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kLinksPerEntryMax = 2000;
constexpr std::size_t kPieceSize = std::size_t{16} << 10;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

using Names = std::initializer_list<std::string_view>;

bool IsOneOf(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsWebUrl(std::string_view text) {
  return StartsWithIgnoreCase(text, "http://") || StartsWithIgnoreCase(text, "https://");
}

DocumentKind KindOf(std::string_view root) {
  if (root == "urlset") return DocumentKind::kSitemap;
  if (root == "sitemapindex") return DocumentKind::kSitemapIndex;
  if (root == "rss" || root == "RDF") return DocumentKind::kRss;
  if (root == "feed") return DocumentKind::kAtom;
  return DocumentKind::kUnknown;
}

bool IsEntry(std::string_view name) { return IsOneOf(name, {"url", "sitemap", "item", "entry"}); }

bool IsDate(std::string_view name) {
  return IsOneOf(name, {"lastmod", "pubDate", "updated", "published", "date"});
}

std::optional<Timestamp> ParseDate(std::string_view text) {
  text = TrimSpace(text);
  if (const auto time = ParseIso(text)) return time;
  return ParseHttpDate(text);
}

}  // namespace

class SitemapReader::Impl final : public XmlHandler {
 public:
  Impl(std::function<void(Link)> on_link, SitemapLimits limits)
      : on_link_(std::move(on_link)), limits_(limits), scanner_(*this) {}

  void Feed(std::string_view bytes) {
    if (begun_) return Unpack(bytes, false);
    first_ += bytes;
    if (first_.size() >= kByteOrderMark.size()) Begin();
  }

  void Finish() {
    if (!begun_) Begin();
    if (unpacker_) Unpack({}, true);
    if (kind_ == DocumentKind::kText && !line_.empty()) EndLine();
    EndEntry();
  }

  DocumentKind kind() const { return kind_; }
  bool cut() const { return cut_; }
  std::uint64_t links() const { return links_; }

  void OnStart(const XmlTag& tag) override {
    if (over_) return;
    const std::string name(tag.local_name());
    if (!rooted_) {
      rooted_ = true;
      kind_ = KindOf(name);
      over_ = kind_ == DocumentKind::kUnknown;
    }
    if (IsEntry(name)) EndEntry();
    TakeAttributes(tag, name);
    if (tag.is_empty()) return;
    if (stack_.size() < kDepthMax) {
      stack_.push_back(name);
    } else {
      ++deeper_;
    }
    text_.clear();
    raw_.clear();
    overflow_ = false;
    collecting_ = true;
  }

  void OnEnd(std::string_view name) override {
    if (over_) return;
    if (deeper_ > 0) {
      --deeper_;
      return;
    }
    const auto found = std::find(stack_.rbegin(), stack_.rend(), name);
    if (found == stack_.rend()) return;
    if (found == stack_.rbegin() && collecting_) TakeText(name);
    stack_.erase(found.base() - 1, stack_.end());
    collecting_ = false;
    if (IsEntry(name)) EndEntry();
  }

  void OnText(std::string_view piece, bool raw) override {
    if (!collecting_ || over_) return;
    // References only shorten.
    if (text_.size() + raw_.size() + piece.size() > 2 * limits_.url_bytes_max) {
      overflow_ = true;
      return;
    }
    if (raw) {
      raw_ += piece;
    } else {
      ResolveText();
      text_ += piece;
    }
  }

 private:
  void Begin() {
    begun_ = true;
    if (first_.starts_with(kGzipMagic)) {
      const codec::Registry registry = codec::StandardRegistry();
      unpacker_.emplace(registry, std::vector<std::string_view>{"gzip"});
    }
    Unpack(std::exchange(first_, {}), false);
  }

  void Unpack(std::string_view bytes, bool last) {
    if (!unpacker_) return TakePlain(bytes);
    std::string piece(kPieceSize, '\0');
    while (!over_) {
      const http::ContentDecoder::Step step = unpacker_->Decode(bytes, piece, last);
      TakePlain(std::string_view(piece).substr(0, step.produced));
      bytes.remove_prefix(step.consumed);
      if (step.done || (step.produced == 0 && bytes.empty() && !last)) return;
      if (step.produced == 0 && step.consumed == 0) return;
    }
  }

  // Without compression.
  void TakePlain(std::string_view bytes) {
    if (over_) return;
    if (bytes.size() > limits_.bytes_max - bytes_) {
      bytes = bytes.substr(0, static_cast<std::size_t>(limits_.bytes_max - bytes_));
      cut_ = true;
    }
    bytes_ += bytes.size();
    if (!is_xml_ && kind_ == DocumentKind::kUnknown) bytes = SkipToFirst(bytes);
    if (is_xml_) {
      scanner_.Feed(bytes);
    } else if (kind_ == DocumentKind::kText) {
      TakeLines(bytes);
    }
    over_ |= cut_;
  }

  // White space and a byte order mark; the first byte behind them tells XML from text.
  std::string_view SkipToFirst(std::string_view bytes) {
    while (!bytes.empty()) {
      const char c = bytes.front();
      const bool mark = kByteOrderMark.find(c) != std::string_view::npos;
      if (!IsAsciiSpace(c) && !mark) {
        is_xml_ = c == '<';
        if (!is_xml_) kind_ = DocumentKind::kText;
        return bytes;
      }
      bytes.remove_prefix(1);
    }
    return bytes;
  }

  void TakeLines(std::string_view bytes) {
    while (!bytes.empty() && !over_) {
      const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
      const std::string_view piece = bytes.substr(0, end);
      overflow_ |= line_.size() + piece.size() > limits_.url_bytes_max;
      if (!overflow_) line_ += piece;
      if (end == bytes.size()) return;
      EndLine();
      bytes.remove_prefix(end + 1);
    }
  }

  void EndLine() {
    const std::string_view url = TrimSpace(line_);
    if (!overflow_ && IsWebUrl(url)) Add(LinkKind::kPage, url);
    EndEntry();
    line_.clear();
    overflow_ = false;
  }

  void ResolveText() {
    text_ += ResolveReferences(raw_);
    raw_.clear();
  }

  std::string_view Parent(std::size_t up) const {
    return stack_.size() > up ? std::string_view(stack_[stack_.size() - 1 - up])
                              : std::string_view();
  }

  // The text of the innermost element, which ends.
  void TakeText(std::string_view name) {
    ResolveText();
    if (overflow_) return;
    if (IsDate(name) && IsEntry(Parent(1))) {
      if (const auto date = ParseDate(text_); date && (!modified_ || *modified_ < *date)) {
        modified_ = date;
      }
      return;
    }
    const std::string_view url = TrimSpace(text_);
    if (url.empty()) return;
    const bool sitemap = kind_ == DocumentKind::kSitemap || kind_ == DocumentKind::kSitemapIndex;
    if (sitemap && name == "loc") {
      const std::string_view parent = Parent(1);
      if (parent == "sitemap") return Add(LinkKind::kSitemap, url);
      if (parent == "url") return Add(LinkKind::kPage, url);
      if (parent == "image") return Add(LinkKind::kMedia, url);
    } else if (sitemap && IsOneOf(name, {"content_loc", "player_loc", "thumbnail_loc"})) {
      Add(LinkKind::kMedia, url);
    } else if (kind_ == DocumentKind::kRss && IsOneOf(name, {"link", "comments"})) {
      if (IsOneOf(Parent(1), {"item", "channel"})) Add(LinkKind::kItem, url);
    } else if (kind_ == DocumentKind::kRss && name == "guid" && !guid_is_id_ && IsWebUrl(url)) {
      Add(LinkKind::kItem, url);
    }
  }

  // Links that stand in attributes.
  void TakeAttributes(const XmlTag& tag, std::string_view name) {
    if (name == "guid") guid_is_id_ = tag.Attribute("isPermaLink") == "false";
    if (name == "link") {
      if (const auto url = tag.Attribute("href")) {
        const std::string relation = tag.Attribute("rel").value_or("alternate");
        if (relation == "enclosure") return Add(LinkKind::kMedia, *url);
        if (!IsOneOf(relation, {"alternate", "related", "via", "next", "prev", "previous", "first",
                                "last", "replies"})) {
          return;
        }
        const bool feed = kind_ == DocumentKind::kRss || kind_ == DocumentKind::kAtom;
        Add(feed ? LinkKind::kItem : LinkKind::kPage, *url);
      }
      return;
    }
    if (kind_ == DocumentKind::kAtom && name == "content") {
      if (const auto url = tag.Attribute("src")) Add(LinkKind::kItem, *url);
    } else if (IsOneOf(name, {"enclosure", "content", "thumbnail"})) {
      if (const auto url = tag.Attribute("url")) Add(LinkKind::kMedia, *url);
    }
  }

  void Add(LinkKind kind, std::string_view url) {
    url = TrimSpace(url);
    if (url.empty() || url.size() > limits_.url_bytes_max) return;
    if (waiting_.size() >= kLinksPerEntryMax) EndEntry();
    waiting_.push_back({kind, std::string(url), std::nullopt});
  }

  void EndEntry() {
    for (Link& link : std::exchange(waiting_, {})) {
      if (links_ == limits_.links_max) {
        cut_ = over_ = true;
        break;
      }
      ++links_;
      link.last_modified = modified_;
      on_link_(std::move(link));
    }
    modified_.reset();
  }

  const std::function<void(Link)> on_link_;
  const SitemapLimits limits_;
  XmlScanner scanner_;
  std::optional<http::ContentDecoder> unpacker_;

  std::string first_;  // too few bytes to tell
  bool begun_ = false;
  bool is_xml_ = false;
  DocumentKind kind_ = DocumentKind::kUnknown;
  bool over_ = false;  // nothing that comes matters
  bool cut_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t links_ = 0;

  std::string line_;  // of a text sitemap
  bool rooted_ = false;
  std::vector<std::string> stack_;  // open elements
  std::size_t deeper_ = 0;          // those that did not fit
  bool collecting_ = false;         // the text since the last start tag
  bool overflow_ = false;           // there was too much of it
  std::string text_;
  std::string raw_;  // likewise, references not yet resolved
  bool guid_is_id_ = false;
  std::vector<Link> waiting_;
  std::optional<Timestamp> modified_;
};

SitemapReader::SitemapReader(std::function<void(Link)> on_link, SitemapLimits limits)
    : impl_(std::make_unique<Impl>(std::move(on_link), limits)) {}
SitemapReader::~SitemapReader() = default;

void SitemapReader::Feed(std::string_view bytes) { impl_->Feed(bytes); }
void SitemapReader::Finish() { impl_->Finish(); }
DocumentKind SitemapReader::kind() const { return impl_->kind(); }
bool SitemapReader::cut() const { return impl_->cut(); }
std::uint64_t SitemapReader::links() const { return impl_->links(); }

}  // namespace stele::sitemap
