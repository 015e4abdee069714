#include "formats/html/link_header.h"

#include <string>

#include "formats/html/link_relation.h"
#include "formats/html/refresh.h"
#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

// Header bytes beyond ASCII are UTF-8 where they can be; servers that mean Latin-1 are left to the
// collector's guess.
void AddHeaderLink(std::string_view href, Hop hop, std::string_view context,
                   const LinkSource& source, LinkCollector& links) {
  links.Add({.href = href,
             .hop = hop,
             .context = context,
             .offset = 0,
             .base = source.base,
             .utf8 = IsValidUtf8(href)});
}

// A Link header field value: <a>; rel=x; title="y, z", <b>; rel="next last"
class LinkHeaderReader {
 public:
  explicit LinkHeaderReader(std::string_view value) : value_(value) {}

  struct Item {
    std::string_view href;
    std::string rel{};
    bool has_anchor = false;
  };

  bool Next(Item& item) {
    at_ = value_.find('<', at_);
    if (at_ == std::string_view::npos) return false;
    const std::size_t end = value_.find('>', at_);
    if (end == std::string_view::npos) return false;
    item = {.href = value_.substr(at_ + 1, end - at_ - 1)};
    at_ = end + 1;
    bool has_rel = false;
    while (NextParameter()) {
      if (EqualsIgnoreCase(name_, "rel") && !has_rel) {
        item.rel = parameter_;
        has_rel = true;
      } else if (EqualsIgnoreCase(name_, "anchor")) {
        item.has_anchor = true;
      }
    }
    return true;
  }

 private:
  void SkipSpace() {
    while (at_ < value_.size() && IsAsciiSpace(value_[at_])) ++at_;
  }

  // ";name=value" or ";name"; false at the comma that ends the link, or the end.
  bool NextParameter() {
    SkipSpace();
    while (at_ < value_.size() && value_[at_] != ';' && value_[at_] != ',') ++at_;
    if (at_ >= value_.size() || value_[at_] == ',') return false;
    ++at_;
    SkipSpace();
    const std::size_t start = at_;
    while (at_ < value_.size() && value_[at_] != '=' && value_[at_] != ';' && value_[at_] != ',') {
      ++at_;
    }
    name_ = TrimSpace(value_.substr(start, at_ - start));
    parameter_.clear();
    if (at_ >= value_.size() || value_[at_] != '=') return true;
    ++at_;
    SkipSpace();
    if (at_ < value_.size() && value_[at_] == '"') {
      for (++at_; at_ < value_.size() && value_[at_] != '"'; ++at_) {
        if (value_[at_] == '\\' && at_ + 1 < value_.size()) ++at_;
        parameter_.push_back(value_[at_]);
      }
      if (at_ < value_.size()) ++at_;
      return true;
    }
    const std::size_t token = at_;
    while (at_ < value_.size() && value_[at_] != ';' && value_[at_] != ',') ++at_;
    parameter_ = TrimSpace(value_.substr(token, at_ - token));
    return true;
  }

  std::string_view value_;
  std::size_t at_ = 0;
  std::string_view name_;
  std::string parameter_;
};

}  // namespace

void ExtractLinkHeaderLinks(const LinkSource& source, LinkCollector& links) {
  LinkHeaderReader reader(source.bytes);
  LinkHeaderReader::Item item;
  while (reader.Next(item)) {
    if (item.has_anchor) continue;
    const std::optional<Hop> hop = HopForRelation(item.rel);
    if (hop) AddHeaderLink(item.href, *hop, "header/link", source, links);
  }
}

void ExtractRefreshHeaderLinks(const LinkSource& source, LinkCollector& links) {
  const std::optional<std::string_view> url = RefreshUrl(source.bytes);
  if (url) AddHeaderLink(*url, Hop::kRedirect, "header/refresh", source, links);
}

void ExtractLocationLinks(const LinkSource& source, LinkCollector& links) {
  AddHeaderLink(source.bytes, Hop::kRedirect, "header/location", source, links);
}

void ExtractContentLocationLinks(const LinkSource& source, LinkCollector& links) {
  AddHeaderLink(source.bytes, Hop::kNavigation, "header/content-location", source, links);
}

}  // namespace stele::html
