// A file is read in one pass. Rules are gathered for two readers at a time, for our product token
// and for "*"; which of them counts is known at the end. Patterns and targets are brought into one
// form, in which equal URLs are equal bytes and '*' and '$' mean themselves in patterns only; then
// a pattern is a row of literals that must follow each other.
#include "formats/robots/robots.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/ascii.h"

namespace stele::robots {
namespace {

constexpr std::size_t kSitemapsMax = 1000;
constexpr std::uint64_t kDelaySecondsMax = 86'400;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsUnreserved(char c) {
  return IsAsciiAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

void AppendEncoded(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

// In a query these separate nothing.
bool IsPlainInQuery(char c) { return c == '/' || c == ':'; }

// RFC 9309 §2.2.2 and §2.2.3. In a query, '/' and ':' are the same, encoded or not: there they
// stand plain.
std::string Normalized(std::string_view text, bool is_pattern) {
  std::string out;
  out.reserve(text.size());
  bool in_query = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    const bool escaped =
        c == '%' && i + 2 < text.size() && HexValue(text[i + 1]) >= 0 && HexValue(text[i + 2]) >= 0;
    if (escaped) {
      c = static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
      i += 2;
      if (IsUnreserved(c) || (in_query && IsPlainInQuery(c))) {
        out += c;
      } else {
        AppendEncoded(out, c);
      }
      continue;
    }
    in_query |= c == '?';
    const bool special = is_pattern && (c == '*' || (c == '$' && i + 1 == text.size()));
    const auto byte = static_cast<unsigned char>(c);
    if (!special && (c == '*' || c == '$' || byte <= 0x20 || byte >= 0x7f)) {
      AppendEncoded(out, c);
    } else {
      out += c;
    }
  }
  return out;
}

// A normalized piece of a pattern, as it would be in a query.
std::string InQuery(std::string_view literal) {
  std::string out;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    const std::string_view code = literal.substr(i, 3);
    const bool plain = code == "%2F" || code == "%3A";
    out += plain ? (code == "%2F" ? '/' : ':') : literal[i];
    if (plain) i += 2;
  }
  return out;
}

// A target, and where its query begins; both normalized.
struct Target {
  std::string_view text;
  std::size_t query = std::min(text.find('?'), text.size());

  // Where the first `literal` from `at` on ends. What an asterisk leads to may be in the path or in
  // the query.
  std::optional<std::size_t> EndOf(std::string_view literal, std::size_t at) const {
    const std::size_t found = text.find(literal, at);
    if (found != std::string_view::npos) return found + literal.size();
    if (literal.find('%') == std::string_view::npos) return std::nullopt;
    const std::string plain = InQuery(literal);
    const std::size_t in_query = text.find(plain, std::max(at, query));
    if (in_query == std::string_view::npos) return std::nullopt;
    return in_query + plain.size();
  }
  bool EndsWith(std::string_view literal, std::size_t at) const {
    if (text.substr(at).ends_with(literal)) return true;
    return text.substr(std::max(at, query)).ends_with(InQuery(literal));
  }
};

// The pattern is normalized. The leftmost place for each literal leaves the most room for the next.
bool Matches(std::string_view pattern, const Target& target) {
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  const std::size_t head = pattern.find('*');
  if (!target.text.starts_with(pattern.substr(0, head))) return false;
  if (head == std::string_view::npos) return !to_end || target.text.size() == pattern.size();
  std::size_t at = head;
  pattern.remove_prefix(head + 1);
  for (;;) {
    const std::size_t star = pattern.find('*');
    const std::string_view literal = pattern.substr(0, star);
    const bool last = star == std::string_view::npos;
    if (last && to_end) return target.EndsWith(literal, at);
    const std::optional<std::size_t> end = target.EndOf(literal, at);
    if (!end || last) return end.has_value();
    at = *end;
    pattern.remove_prefix(star + 1);
  }
}

enum class Key { kUserAgent, kAllow, kDisallow, kCrawlDelay, kSitemap, kOther };

// With the misspellings that are common enough for others to forgive them.
constexpr std::array<std::pair<std::string_view, Key>, 15> kKeys{{
    {"user-agent", Key::kUserAgent},
    {"useragent", Key::kUserAgent},
    {"user agent", Key::kUserAgent},
    {"allow", Key::kAllow},
    {"disallow", Key::kDisallow},
    {"dissallow", Key::kDisallow},
    {"dissalow", Key::kDisallow},
    {"disalow", Key::kDisallow},
    {"diasllow", Key::kDisallow},
    {"disallaw", Key::kDisallow},
    {"crawl-delay", Key::kCrawlDelay},
    {"crawldelay", Key::kCrawlDelay},
    {"crawl delay", Key::kCrawlDelay},
    {"sitemap", Key::kSitemap},
    {"site-map", Key::kSitemap},
}};

struct Line {
  Key key = Key::kOther;
  std::string_view value;
};

Line ReadLine(std::string_view text) {
  text = TrimSpace(text.substr(0, text.find('#')));
  std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    // "disallow /x": two words and no colon.
    colon = text.find_first_of(" \t");
    if (colon == std::string_view::npos) return {};
    const std::string_view rest = TrimSpace(text.substr(colon));
    if (rest.find_first_of(" \t") != std::string_view::npos) return {};
  }
  const std::string_view name = TrimSpace(text.substr(0, colon));
  for (const auto& [known, key] : kKeys) {
    if (EqualsIgnoreCase(name, known)) return {key, TrimSpace(text.substr(colon + 1))};
  }
  return {};
}

// Digits are not in the RFC, but in names.
std::string_view ProductToken(std::string_view value) {
  const auto end = std::find_if_not(value.begin(), value.end(),
                                    [](char c) { return IsAsciiAlnum(c) || c == '_' || c == '-'; });
  return value.substr(0, static_cast<std::size_t>(end - value.begin()));
}

bool IsForAll(std::string_view value) {
  return value.starts_with('*') && (value.size() == 1 || IsAsciiSpace(value[1]));
}

// "10", "0.5". Who asks for more than a day gets a day.
std::optional<std::chrono::milliseconds> ParseSeconds(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view whole_text = text.substr(0, dot);
  const bool has_part = dot + 1 < text.size();
  if (!std::all_of(whole_text.begin(), whole_text.end(), IsAsciiDigit)) return std::nullopt;
  if (whole_text.empty() && !has_part) return std::nullopt;
  const std::uint64_t whole =
      whole_text.empty() ? 0 : ParseDecimal(whole_text).value_or(kDelaySecondsMax);
  std::uint64_t thousandths = 0;
  if (dot < text.size()) {
    std::string digits(text.substr(dot + 1));
    digits.resize(3, '0');
    const std::optional<std::uint64_t> fraction = ParseDecimal(digits);
    if (!fraction) return std::nullopt;
    thousandths = *fraction;
  }
  return std::chrono::milliseconds(std::min(whole, kDelaySecondsMax) * 1000 + thousandths);
}

}  // namespace

class RobotsParser {
 public:
  explicit RobotsParser(std::string_view product_token) : token_(product_token) {}

  Robots Read(std::string_view text) {
    const bool cut = text.size() > kSizeMax;
    text = text.substr(0, kSizeMax);
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::uint32_t number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find_first_of("\r\n");
      if (end == std::string_view::npos && cut) break;
      ++number;
      Take(ReadLine(text.substr(0, end)), number);
      if (end == std::string_view::npos) break;
      const bool both = text.substr(end, 2) == "\r\n";
      text.remove_prefix(end + (both ? 2 : 1));
    }
    Robots robots = std::move(named_ ? ours_ : all_);
    robots.named_ = named_;
    robots.sitemaps_ = std::move(sitemaps_);
    std::stable_sort(robots.rules_.begin(), robots.rules_.end(), [](const auto& a, const auto& b) {
      if (a.pattern.size() != b.pattern.size()) return a.pattern.size() > b.pattern.size();
      return a.allow && !b.allow;
    });
    return robots;
  }

 private:
  void Take(const Line& line, std::uint32_t number) {
    switch (line.key) {
      case Key::kUserAgent:
        if (in_rules_) in_ours_ = in_all_ = in_rules_ = false;
        in_all_ |= IsForAll(line.value);
        if (!token_.empty() && EqualsIgnoreCase(ProductToken(line.value), token_)) {
          in_ours_ = named_ = true;
        }
        return;
      case Key::kAllow:
      case Key::kDisallow:
        in_rules_ = true;
        return AddRule(line.value, line.key == Key::kAllow, number);
      case Key::kCrawlDelay:
        if (const auto delay = ParseSeconds(line.value)) {
          if (in_ours_) ours_.crawl_delay_ = std::max(ours_.crawl_delay_, delay);
          if (in_all_) all_.crawl_delay_ = std::max(all_.crawl_delay_, delay);
        }
        return;
      case Key::kSitemap:
        if (!line.value.empty() && sitemaps_.size() < kSitemapsMax) {
          sitemaps_.emplace_back(line.value);
        }
        return;
      case Key::kOther:
        return;
    }
  }

  void AddRule(std::string_view value, bool allow, std::uint32_t number) {
    if (value.empty() || (!in_ours_ && !in_all_)) return;
    const Robots::Rule rule{Normalized(value, true), std::string(value), number, allow};
    if (in_ours_) ours_.rules_.push_back(rule);
    if (in_all_) all_.rules_.push_back(rule);
  }

  const std::string_view token_;
  Robots ours_;
  Robots all_;
  std::vector<std::string> sitemaps_;
  bool named_ = false;
  bool in_ours_ = false;   // the group is for us
  bool in_all_ = false;    // the group is for everybody
  bool in_rules_ = false;  // it has a rule: the next user agent begins another group
};

Robots Robots::DisallowAll() {
  Robots robots;
  robots.rules_.push_back({"/", "/", 0, false});
  return robots;
}

Robots Robots::Parse(std::string_view text, std::string_view product_token) {
  return RobotsParser(product_token).Read(text);
}

Robots::Verdict Robots::Judge(std::string_view target) const {
  if (target == "/robots.txt") return {};
  const std::string normalized = Normalized(target, false);
  const Target place{normalized};
  for (const Rule& rule : rules_) {
    if (Matches(rule.pattern, place)) return {rule.allow, rule.text, rule.line};
  }
  return {};
}

Access AccessFor(int status, int redirects) {
  if (status >= 200 && status < 300) return Access::kParse;
  if (status >= 300 && status < 400) {
    return redirects < kRedirectsMax ? Access::kFollow : Access::kAllowAll;
  }
  // 429 is a server that asks for less, not one that has no rules.
  if (status >= 400 && status < 500 && status != 429) return Access::kAllowAll;
  return Access::kDisallowAll;
}

PageRobots ParsePageRobots(std::string_view content, std::string_view product_token) {
  constexpr std::array<std::string_view, 4> kWithValues{"unavailable_after", "max-snippet",
                                                        "max-image-preview", "max-video-preview"};
  PageRobots robots;
  bool for_us = true;
  for (std::string_view part : Split(content, ',')) {
    if (const std::size_t colon = part.find(':'); colon != std::string_view::npos) {
      const std::string_view name = TrimSpace(part.substr(0, colon));
      const bool has_value =
          std::any_of(kWithValues.begin(), kWithValues.end(),
                      [&](std::string_view one) { return EqualsIgnoreCase(name, one); });
      // "Wed, 3 Jul 2024 13:00:00 GMT" names nobody.
      if (has_value || name.find(' ') != std::string_view::npos) continue;
      for_us = name == "*" || EqualsIgnoreCase(name, product_token);
      part.remove_prefix(colon + 1);
    }
    if (!for_us) continue;
    for (const std::string_view word : Split(TrimSpace(part), ' ')) {
      const bool none = EqualsIgnoreCase(word, "none");
      robots.no_follow |= none || EqualsIgnoreCase(word, "nofollow");
      robots.no_archive |= EqualsIgnoreCase(word, "noarchive");
    }
  }
  return robots;
}

}  // namespace stele::robots
