#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// robots.txt by RFC 9309: docs/formats/robots.md has the rules and where we go beyond them.
namespace stele::robots {

// What is longer is read up to here; the line that is cut there does not count.
inline constexpr std::size_t kSizeMax = std::size_t{500} << 10;
inline constexpr int kRedirectsMax = 5;

// What one robots.txt says to one crawler. A copy of what it needs; cheap to move, and any number
// of threads may ask it.
class Robots {
 public:
  static Robots AllowAll() { return {}; }
  static Robots DisallowAll();
  // `product_token` is the crawler's name in robots.txt ("stele"), without version; case does not
  // matter. Never fails: lines that say nothing are left out.
  static Robots Parse(std::string_view text, std::string_view product_token);

  struct Verdict {
    bool allowed = true;
    // The rule that decided, as it stands in the file, and its line; empty: no rule matches.
    std::string_view rule;
    std::uint32_t line = 0;
  };
  // `target` is path and query as they are requested: "/a/b?c=d". /robots.txt itself is always
  // allowed.
  Verdict Judge(std::string_view target) const;
  bool Allows(std::string_view target) const { return Judge(target).allowed; }

  // Not in the RFC, but widely used: the largest in the groups that apply to us.
  std::optional<std::chrono::milliseconds> crawl_delay() const { return crawl_delay_; }
  // As they stand there; relative ones are relative to the file.
  const std::vector<std::string>& sitemaps() const { return sitemaps_; }
  // A group names our product token.
  bool named() const { return named_; }

 private:
  struct Rule {
    std::string pattern;  // normalized
    std::string text;
    std::uint32_t line = 0;
    bool allow = false;
  };
  friend class RobotsParser;

  std::vector<Rule> rules_;  // the longest pattern first, of equal ones those that allow
  std::optional<std::chrono::milliseconds> crawl_delay_;
  std::vector<std::string> sitemaps_;
  bool named_ = false;
};

// What an answer to the request for /robots.txt means (RFC 9309 §2.3.1).
enum class Access : std::uint8_t {
  kParse,        // read it
  kFollow,       // ask the Location, also on another host; its rules are for the first one
  kAllowAll,     // there is none: everything may be fetched
  kDisallowAll,  // unreachable: nothing may be fetched, ask again later
};
// `status` of the response, 0 or negative where there was none; after `redirects` of them. A
// redirect that leads nowhere (no Location, a loop) counts as kAllowAll.
Access AccessFor(int status, int redirects);

// Of a meta element named robots, or an X-Robots-Tag: "noindex, nofollow", "none",
// "otherbot: nofollow".
struct PageRobots {
  bool no_follow = false;
  bool no_archive = false;
};
PageRobots ParsePageRobots(std::string_view content, std::string_view product_token);

}  // namespace stele::robots
